package kvmatrix;

/** Receives the entries of a scan. */
@FunctionalInterface
public interface Visitor {
  /** Copies an entry and returns whether the scan goes on. */
  boolean visit(byte[] key, byte[] value);
}
