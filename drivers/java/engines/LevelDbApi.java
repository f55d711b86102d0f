package engines;

import java.io.IOException;
import kvmatrix.*;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBFactory;
import org.iq80.leveldb.DBIterator;
import org.iq80.leveldb.WriteBatch;
import org.iq80.leveldb.WriteOptions;

/** What two engines have in common that have the same interface, org.iq80.leveldb. */
abstract class LevelDbApi extends Engine {
  protected final DB db;
  private final WriteOptions write;

  static Description describe(String licence, Scans scans) {
    return new Description(licence, scans)
        .codec("snappy")
        .flag("write_buffer_size", 4 << 20, "bytes of a memtable")
        .flag("block_size", 4 << 10, "bytes of a table block")
        .flag("open_files", 1000, "table files kept open")
        .promises(Promise.LOSES_NEWEST, Promise.LOSES_NEWEST, Promise.LOSES_NOTHING,
            "https://github.com/google/leveldb/blob/v1.14/doc/index.html");
  }

  LevelDbApi(DBFactory factory, Options requested) throws IOException {
    var codec = requested.compression() ? CompressionType.SNAPPY : CompressionType.NONE;
    var options =
        new org.iq80.leveldb.Options()
            .cacheSize(requested.cacheSize())
            .compressionType(codec)
            .writeBufferSize(requested.integer("write_buffer_size"))
            .blockSize(requested.integer("block_size"))
            .maxOpenFiles(requested.integer("open_files"));
    write = new WriteOptions().sync(requested.isDurable());
    db = closeLater(factory.open(requested.path().toFile(), options));
    requested("cache_size", options.cacheSize());
    requested("compression", options.compressionType());
    requested("write_buffer_size", options.writeBufferSize());
    requested("block_size", options.blockSize());
    requested("max_open_files", options.maxOpenFiles());
    requested("sync", write.sync());
  }

  /** Waits for the jobs of the background thread, and returns what they have changed. */
  protected abstract Object awaitJobs() throws Exception;

  /**
   * Waits until the background thread has nothing to do. Suspending it takes effect after the jobs
   * that were queued before; a job may have queued another one, and then something has changed.
   */
  @Override
  public final void settle() throws Exception {
    new Idle(this::awaitJobs).await(0);
  }

  @Override
  public final byte[] get(byte[] key) {
    return db.get(key);
  }

  @Override
  public final void write(byte[][] keys, byte[][] values) throws IOException {
    if (keys.length == 1 && values[0] != null) {
      db.put(keys[0], values[0], write);
      return;
    }
    try (WriteBatch batch = db.createWriteBatch()) {
      for (int i = 0; i < keys.length; ++i) {
        if (values[i] == null) batch.delete(keys[i]);
        else batch.put(keys[i], values[i]);
      }
      db.write(batch, write);
    }
  }

  /** Scans forward, as both engines can. */
  @Override
  public void scan(byte[] start, boolean backward, Visitor visit) throws IOException {
    try (DBIterator it = db.iterator()) {
      it.seek(start);
      while (it.hasNext()) {
        var entry = it.next();
        if (!visit.visit(entry.getKey(), entry.getValue())) return;
      }
    }
  }
}
