package kvmatrix;

import java.util.Map;

/**
 * An open database of a storage engine, behind the contract of common/driver.h.
 *
 * <p>An engine is one class in engines/ that has a constructor with the parameter {@link Options}
 * and a constant {@code Description DESCRIPTION}. What any method throws ends the measurement; the
 * constructor and {@link #compact} may throw {@link Unsupported}. A method does not write to
 * standard output.
 */
public interface Engine {
  /** Returns a session for the calling thread. Called by any thread at any time. */
  Session session() throws Exception;

  /** Hands everything that was written to the operating system. */
  void flush() throws Exception;

  /** Returns once the engine is idle. */
  void settle() throws Exception;

  /** Reorganises the whole database. */
  default void compact() throws Exception {
    throw new Unsupported("does not compact on request");
  }

  /** Returns the settings in force, read back from the engine. */
  Map<String, String> settings() throws Exception;

  /** Returns what the engine has counted of waiting and repeated calls. */
  default Map<String, Long> counters() {
    return Map.of();
  }

  /** Returns the version that the engine reports; empty if it reports none. */
  default String version() {
    return "";
  }

  /** Closes the database, after its sessions. */
  void close() throws Exception;
}
