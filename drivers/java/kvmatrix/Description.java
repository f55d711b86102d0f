package kvmatrix;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What is known of an engine before it is opened. The plug-in is compiled with it, so that it can
 * be described without a virtual machine.
 *
 * <pre>{@code
 * public static final Description DESCRIPTION =
 *     new Description("Apache-2.0", Scans.BOTH_WAYS)
 *         .codec("snappy")
 *         .version(() -> Factory.VERSION)
 *         .flag("block_size", 4096, "bytes of a block")
 *         .promises(Promise.LOSES_NEWEST, Promise.LOSES_NEWEST, Promise.LOSES_NOTHING,
 *             "https://...");
 * }</pre>
 */
public final class Description {
  /** A flag of db_bench_plugin; the type is one of kvm_flag. */
  record Flag(String name, String type, String initial, String help) {}

  /** A promise, and where the engine documents it. */
  record Guarantee(Promise promise, String source) {}

  final String licence;
  final Scans scans;
  final List<Flag> flags = new ArrayList<>();
  final Map<Durability, Guarantee> guarantees = new EnumMap<>(Durability.class);
  String codec = "";
  boolean stores = true;
  long mostUpdates;
  Supplier<String> version = () -> "";

  /** Begins with the licence of the engine, and the scans that it offers. */
  public Description(String licence, Scans scans) {
    this.licence = licence;
    this.scans = scans;
  }

  /** Names the codec of {@code --compression}. */
  public Description codec(String name) {
    codec = name;
    return this;
  }

  /**
   * Says how an open engine reports its version, which must be that in the name of its jar. Without
   * this, the version is not checked.
   */
  public Description version(Supplier<String> report) {
    version = report;
    return this;
  }

  /** Says that the engine is one that shows what crossing costs. */
  public Description storesNothing() {
    stores = false;
    return this;
  }

  /** Says that batches are not atomic in a crash, so that each write has one update. */
  public Description withoutBatches() {
    mostUpdates = 1;
    return this;
  }

  /** Adds a whole number, which may be negative if its default is. */
  public Description flag(String name, long initial, String help) {
    return add(name, initial < 0 ? "int64" : "uint64", Long.toString(initial), help);
  }

  /** Adds a flag that is true or false. */
  public Description flag(String name, boolean initial, String help) {
    return add(name, "bool", Boolean.toString(initial), help);
  }

  /** Adds a text. */
  public Description flag(String name, String initial, String help) {
    return add(name, "string", initial, help);
  }

  /** Adds the promises of all durabilities that are documented at one address. */
  public Description promises(
      Promise buffered, Promise consistent, Promise durable, String source) {
    return promise(Durability.BUFFERED, buffered, source)
        .promise(Durability.CONSISTENT, consistent, source)
        .promise(Durability.DURABLE, durable, source);
  }

  /** Adds or replaces a promise; without one, the durability is unsupported. */
  public Description promise(Durability durability, Promise promise, String source) {
    guarantees.put(durability, new Guarantee(promise, source));
    return this;
  }

  /** Returns the description of the engine that a class implements. */
  static Description of(Class<?> engine) throws ReflectiveOperationException {
    var description = (Description) engine.getField("DESCRIPTION").get(null);
    return MapEngine.class.isAssignableFrom(engine) ? description.withoutBatches() : description;
  }

  private Description add(String name, String type, String initial, String help) {
    flags.add(new Flag(name, type, initial, help));
    return this;
  }
}
