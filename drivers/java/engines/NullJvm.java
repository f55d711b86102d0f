package engines;

import java.util.Arrays;
import kvmatrix.*;

/** Stores nothing, to show what it costs to cross the bridge. */
public final class NullJvm extends Engine {
  public static final Description DESCRIPTION =
      new Description("Apache-2.0", Scans.BOTH_WAYS).storesNothing();

  private final long entries;
  private final byte[] key;
  private final byte[] value;

  public NullJvm(Options options) {
    entries = options.entries();
    key = new byte[options.keySize()];
    Arrays.fill(key, (byte) '0');
    value = new byte[options.valueSize()];
    reported("stores", () -> "nothing");
  }

  @Override
  public void compact() {}

  /** Returns a copy, as an engine must. */
  @Override
  public byte[] get(byte[] wanted) {
    return value.clone();
  }

  @Override
  public void write(byte[][] keys, byte[][] values) {}

  @Override
  public void scan(byte[] start, boolean backward, Visitor visit) {
    for (long i = 0; i < entries && visit.visit(key.clone(), value.clone()); ++i) continue;
  }
}
