package kvmatrix;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What is known of an engine before it is opened. The plug-in is compiled with it, so that it can
 * be described without a virtual machine.
 *
 * <pre>{@code
 * public static final Description DESCRIPTION =
 *     new Description("Apache-2.0", Scans.BOTH_WAYS)
 *         .codec("snappy")
 *         .flag("block_size", 4096, "bytes of a block")
 *         .promise(Durability.DURABLE, Promise.LOSES_NOTHING, "https://...");
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

  public Description(String licence, Scans scans) {
    this.licence = licence;
    this.scans = scans;
  }

  public Description codec(String name) {
    codec = name;
    return this;
  }

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

  public Description flag(String name, boolean initial, String help) {
    return add(name, "bool", Boolean.toString(initial), help);
  }

  public Description flag(String name, String initial, String help) {
    return add(name, "string", initial, help);
  }

  /** Adds a promise; without one, the durability is unsupported. */
  public Description promise(Durability durability, Promise promise, String source) {
    guarantees.put(durability, new Guarantee(promise, source));
    return this;
  }

  private Description add(String name, String type, String initial, String help) {
    flags.add(new Flag(name, type, initial, help));
    return this;
  }
}
