package kvmatrix;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * An open database of a storage engine, behind the contract of common/driver.h.
 *
 * <p>An engine is one class in engines/ that has a constant {@code Description DESCRIPTION}, and a
 * constructor with the parameter {@link Options} that opens the database and adds its settings.
 * What any method throws ends the measurement; the constructor and {@link #compact} may throw
 * {@link Unsupported}. A method does not write to standard output.
 *
 * <p>{@link #get}, {@link #write} and {@link #scan} are called by many threads at once. Every other
 * method is called by one thread, and not during those calls.
 */
public abstract class Engine {
  private final Map<String, Supplier<?>> settings = new TreeMap<>();
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Returns the value of a key, or null if the key is absent. */
  public abstract byte[] get(byte[] key) throws Exception;

  /** Applies a batch: puts each key with its value, or deletes it if the value is null. */
  public abstract void write(byte[][] keys, byte[][] values) throws Exception;

  /**
   * Calls {@code visit} for the entries at or after {@code start}, or backward at or before it,
   * until it returns false or no entry is left. An empty start is the first or the last entry.
   */
  public abstract void scan(byte[] start, boolean backward, Visitor visit) throws Exception;

  /**
   * Hands everything that was written to the operating system. Does nothing by default: for engines
   * whose writes have done that.
   */
  public void flush() throws Exception {}

  /**
   * Returns once the engine is idle. Does nothing by default: for engines that neither have threads
   * nor leave work for later.
   */
  public void settle() throws Exception {}

  /** Reorganises the whole database; {@link #settle} is called next. */
  public void compact() throws Exception {
    throw new Unsupported("does not compact on request");
  }

  /** Returns what the engine has counted of waiting and repeated calls. */
  public Map<String, Long> counters() {
    return Map.of();
  }

  /** Adds a setting in force, which is read back from the engine each time it is asked for. */
  protected final void reported(String name, Supplier<?> value) {
    settings.put(name, value);
  }

  /** Adds a setting that the engine cannot report. */
  protected final void requested(String name, Object value) {
    settings.put(name, () -> value + " (as requested)");
  }

  /**
   * Has a part closed with the database, before the parts that were added earlier. Called by any
   * thread.
   *
   * @return the part
   */
  protected final <T extends AutoCloseable> T closeLater(T part) {
    synchronized (parts) {
      parts.push(part);
    }
    return part;
  }

  /** Returns the settings in force. */
  final Map<String, Object> settings() {
    Map<String, Object> values = new TreeMap<>();
    settings.forEach((name, value) -> values.put(name, value.get()));
    return values;
  }

  /** Closes the database. */
  final void close() throws Exception {
    while (!parts.isEmpty()) parts.pop().close();
  }
}
