package kvmatrix;

import java.util.Map;

/**
 * An engine that is a map. Its updates are made one by one, so that batches are not atomic and its
 * description is that of an engine {@linkplain Description#withoutBatches without} them.
 *
 * @param <M> the class of the map
 */
public abstract class MapEngine<M extends Map<byte[], byte[]>> extends Engine {
  /** Whether each write is committed. */
  protected final boolean commits;

  /** The map, which the constructor of the engine sets. */
  protected M map;

  /**
   * Begins to open the engine.
   *
   * @param commits whether to commit each write
   */
  protected MapEngine(boolean commits) {
    this.commits = commits;
  }

  /** Makes what was written as safe as the durability requires. */
  protected abstract void commit() throws Exception;

  @Override
  public final byte[] get(byte[] key) {
    return map.get(key);
  }

  @Override
  public final void write(byte[][] keys, byte[][] values) throws Exception {
    for (int i = 0; i < keys.length; ++i) {
      if (values[i] == null) map.remove(keys[i]);
      else map.put(keys[i], values[i]);
    }
    if (commits) commit();
  }
}
