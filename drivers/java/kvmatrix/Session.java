package kvmatrix;

/** One thread's handle on an open database. */
public interface Session {
  /** Returns the value of a key, or null if the key is absent. */
  byte[] get(byte[] key) throws Exception;

  /** Applies a batch: puts each key with its value, or deletes it if the value is null. */
  void write(byte[][] keys, byte[][] values) throws Exception;

  /**
   * Calls {@code visit} for the entries at or after {@code start}, or backward at or before it,
   * until it returns false or no entry is left. An empty start is the first or the last entry.
   */
  void scan(byte[] start, boolean backward, Visitor visit) throws Exception;

  /** Ends the session, on its own thread. */
  default void close() throws Exception {}
}
