package kvmatrix;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A session of one thread, as the bridge calls it. Keys and updates come, and values and entries
 * go, through two blocks of memory that the bridge owns; channel.h describes their contents.
 */
final class Channel implements Visitor {
  private static final int MOST_ENTRIES = 64;
  private static final int MANY_BYTES = 64 << 10;

  private final Engine engine;
  private final long bridge; // address of the C++ part of the session
  private ByteBuffer in;
  private ByteBuffer out;

  // Of the chunk that a scan is filling.
  private int count;
  private int limit;
  private int filled;
  private boolean isStopped;

  Channel(Engine engine, long bridge) {
    this.engine = engine;
    this.bridge = bridge;
  }

  /** Replaces the memory that the bridge writes to. */
  void input(ByteBuffer memory) {
    in = memory.order(ByteOrder.nativeOrder());
  }

  /** Replaces the memory that the bridge reads from. */
  void output(ByteBuffer memory) {
    out = memory.order(ByteOrder.nativeOrder());
  }

  /** Gets the key at the start of the input and returns the size of its value, or -1. */
  int get(int keySize) throws Exception {
    byte[] value = engine.get(input(0, keySize));
    if (value == null) return -1;
    reserve(0, value.length);
    out.put(0, value);
    return value.length;
  }

  /** Writes a batch of updates; a value of size -1 is a delete. */
  void write(int updates) throws Exception {
    byte[][] keys = new byte[updates][];
    byte[][] values = new byte[updates][];
    int at = 0;
    for (int i = 0; i < updates; ++i) {
      int keySize = in.getInt(at);
      int valueSize = in.getInt(at + 4);
      keys[i] = input(at + 8, keySize);
      at += 8 + keySize;
      if (valueSize < 0) continue;
      values[i] = input(at, valueSize);
      at += valueSize;
    }
    engine.write(keys, values);
  }

  /** Scans from the key at the start of the input. */
  void scan(int startSize, boolean isBackward) throws Exception {
    count = 0;
    filled = 0;
    limit = 1;
    isStopped = false;
    engine.scan(input(0, startSize), isBackward, this);
    if (count > 0 && !isStopped) hand();
  }

  @Override
  public boolean visit(byte[] key, byte[] value) {
    reserve(filled, 8 + key.length + value.length);
    out.putInt(filled, key.length);
    out.putInt(filled + 4, value.length);
    out.put(filled + 8, key);
    out.put(filled + 8 + key.length, value);
    filled += 8 + key.length + value.length;
    if (++count < limit && filled < MANY_BYTES) return true;
    return hand();
  }

  private boolean hand() {
    isStopped = !deliver(bridge, count);
    limit = Math.min(2 * limit, MOST_ENTRIES);
    count = 0;
    filled = 0;
    return !isStopped;
  }

  private byte[] input(int at, int size) {
    byte[] bytes = new byte[size];
    in.get(at, bytes);
    return bytes;
  }

  private void reserve(int at, int size) {
    if (size > out.capacity() - at) grow(bridge, at + (long) size);
  }

  /** Makes the output larger, with the same contents, and calls {@link #output}. */
  private static native void grow(long bridge, long size);

  /** Hands the packed entries to the visitor and returns whether the scan goes on. */
  private static native boolean deliver(long bridge, int entries);
}
