package kvmatrix;

import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** An open database, as the C++ part of the bridge calls it. */
final class Bridge {
  private final Engine engine;

  private Bridge(Engine engine) {
    this.engine = engine;
  }

  /**
   * Prepares the virtual machine.
   *
   * @param jars see {@link Jars#check}
   */
  static void start(String[] jars) throws Exception {
    System.setOut(System.err); // standard output belongs to the results
    Jars.check(jars);
  }

  /**
   * Opens a database.
   *
   * @param numbers the cache size, compression, durability, threads, entries, sizes of keys and of
   *     values
   * @param flags names and values in turn
   */
  static Bridge open(String name, String version, String path, long[] numbers, String[] flags)
      throws Exception {
    if (!Files.isDirectory(Path.of(path))) {
      throw new NotDirectoryException(path); // some engines would make one
    }
    // A thread that is attached has no class loader, with which some engines find classes.
    Thread.currentThread().setContextClassLoader(Bridge.class.getClassLoader());
    Map<String, String> values = new HashMap<>();
    for (int i = 0; i < flags.length; i += 2) values.put(flags[i], flags[i + 1]);
    Options options =
        new Options(
            Path.of(path),
            numbers[0],
            numbers[1] != 0,
            Durability.values()[(int) numbers[2]],
            numbers[3],
            numbers[4],
            Math.toIntExact(numbers[5]),
            Math.toIntExact(numbers[6]),
            values);
    Class<?> type = Class.forName(name);
    Engine engine = create(type, options);
    String found = Description.of(type).version.get();
    if (found.isEmpty() || found.equals(version)) return new Bridge(engine);
    engine.close();
    throw new IllegalStateException(
        name + " reports version " + found + ", not " + version + " as in its jar's name");
  }

  private static Engine create(Class<?> type, Options options) throws Exception {
    try {
      return (Engine) type.getConstructor(Options.class).newInstance(options);
    } catch (java.lang.reflect.InvocationTargetException error) {
      if (error.getCause() instanceof Exception cause) throw cause;
      if (error.getCause() instanceof Error cause) throw cause; // such as a class that is missing
      throw error;
    }
  }

  Channel session(long bridge) {
    return new Channel(engine, bridge);
  }

  void flush() throws Exception {
    engine.flush();
  }

  void settle() throws Exception {
    engine.settle();
  }

  void compact() throws Exception {
    engine.compact();
    engine.settle(); // a compaction may leave work
  }

  void close() throws Exception {
    engine.close();
  }

  /** Returns the settings of the engine and of the virtual machine as lines. */
  String settings() throws Exception {
    Map<String, Object> settings = engine.settings();
    settings.put("java", System.getProperty("java.vm.version"));
    settings.put("java_vm", System.getProperty("java.vm.name"));
    settings.put("java_heap", Runtime.getRuntime().maxMemory());
    return lines(settings);
  }

  String counters() {
    return lines(engine.counters());
  }

  private static String lines(Map<String, ?> values) {
    StringBuilder lines = new StringBuilder();
    values.forEach((name, value) -> lines.append(name).append('=').append(value).append('\n'));
    return lines.toString();
  }

  /** Returns what an exception says, in one line. */
  static String explain(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null && cause instanceof ExceptionInInitializerError) {
      cause = cause.getCause();
    }
    String text = cause instanceof Unsupported ? cause.getMessage() : cause.toString();
    return text.replace('\n', ' ');
  }

  static boolean isUnsupported(Throwable error) {
    return error instanceof Unsupported;
  }
}
