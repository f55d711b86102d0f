package engines;

import java.util.Arrays;
import java.util.Map;
import kvmatrix.Description;
import kvmatrix.Engine;
import kvmatrix.Options;
import kvmatrix.Scans;
import kvmatrix.Session;
import kvmatrix.Visitor;

/** Stores nothing, to show what it costs to cross the bridge. */
public final class NullJvm implements Engine {
  public static final Description DESCRIPTION =
      new Description("Apache-2.0", Scans.BOTH_WAYS).storesNothing();

  private final Options options;

  public NullJvm(Options options) {
    this.options = options;
  }

  @Override
  public Session session() {
    return new NullSession(options);
  }

  @Override
  public void flush() {}

  @Override
  public void settle() {}

  @Override
  public void compact() {}

  @Override
  public Map<String, String> settings() {
    return Map.of("stores", "nothing");
  }

  @Override
  public void close() {}

  private static final class NullSession implements Session {
    private final long entries;
    private final byte[] key;
    private final byte[] value;

    NullSession(Options options) {
      entries = options.entries();
      key = new byte[options.keySize()];
      Arrays.fill(key, (byte) '0');
      value = new byte[options.valueSize()];
    }

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
}
