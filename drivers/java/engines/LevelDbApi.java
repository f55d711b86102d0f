package engines;

import java.io.IOException;
import java.util.Map;
import kvmatrix.Description;
import kvmatrix.Engine;
import kvmatrix.Options;
import kvmatrix.Session;
import kvmatrix.Visitor;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBFactory;
import org.iq80.leveldb.DBIterator;
import org.iq80.leveldb.WriteBatch;
import org.iq80.leveldb.WriteOptions;

/** What two engines have in common that have the same interface, org.iq80.leveldb. */
abstract class LevelDbApi implements Engine {
  protected final DB db;
  private final org.iq80.leveldb.Options options;
  private final WriteOptions write;

  static Description addFlags(Description engine) {
    return engine
        .flag("write_buffer_size", 4 << 20, "bytes of a memtable")
        .flag("block_size", 4 << 10, "bytes of a table block")
        .flag("open_files", 1000, "table files kept open");
  }

  LevelDbApi(DBFactory factory, Options requested) throws IOException {
    options =
        new org.iq80.leveldb.Options()
            .cacheSize(requested.cacheSize())
            .compressionType(
                requested.compression() ? CompressionType.SNAPPY : CompressionType.NONE)
            .writeBufferSize(requested.integer("write_buffer_size"))
            .blockSize(requested.integer("block_size"))
            .maxOpenFiles(requested.integer("open_files"));
    write = new WriteOptions().sync(requested.isDurable());
    db = factory.open(requested.path().toFile(), options);
  }

  @Override
  public void flush() {} // a write has handed everything over

  @Override
  public Map<String, String> settings() {
    return Map.of(
        "cache_size", options.cacheSize() + " (as requested)",
        "compression", options.compressionType() + " (as requested)",
        "write_buffer_size", options.writeBufferSize() + " (as requested)",
        "block_size", options.blockSize() + " (as requested)",
        "max_open_files", options.maxOpenFiles() + " (as requested)",
        "sync", write.sync() + " (as requested)");
  }

  @Override
  public void close() throws IOException {
    db.close();
  }

  @Override
  public Session session() {
    return new LevelDbSession();
  }

  private final class LevelDbSession implements Session {
    @Override
    public byte[] get(byte[] key) {
      return db.get(key);
    }

    @Override
    public void write(byte[][] keys, byte[][] values) throws IOException {
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

    @Override
    public void scan(byte[] start, boolean backward, Visitor visit) throws IOException {
      try (DBIterator it = db.iterator()) {
        if (backward) {
          scanBackward(it, start, visit);
          return;
        }
        it.seek(start);
        while (it.hasNext()) {
          var entry = it.next();
          if (!visit.visit(entry.getKey(), entry.getValue())) return;
        }
      }
    }

    private void scanBackward(DBIterator it, byte[] start, Visitor visit) {
      if (start.length > 0) it.seek(start);
      if (start.length == 0 || !it.hasNext()) it.seekToLast();
      if (!it.hasNext()) return;
      var entry = it.peekNext();
      boolean isAfter =
          start.length > 0 && java.util.Arrays.compareUnsigned(entry.getKey(), start) > 0;
      if (!isAfter && !visit.visit(entry.getKey(), entry.getValue())) return;
      while (it.hasPrev()) {
        entry = it.prev();
        if (!visit.visit(entry.getKey(), entry.getValue())) return;
      }
    }
  }
}
