package engines;

import kvmatrix.*;
import org.rocksdb.FlushOptions;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** RocksDB through its Java API, with arrays of bytes. https://github.com/facebook/rocksdb */
public final class RocksJava extends Engine {
  public static final Description DESCRIPTION =
      RocksJavaOptions.addFlags(new Description("Apache-2.0", Scans.BOTH_WAYS).codec("snappy"))
          .version(() -> RocksDB.rocksdbVersion().toString())
          .promises(Promise.LOSES_NEWEST, Promise.LOSES_NEWEST, Promise.LOSES_NOTHING,
              "https://github.com/facebook/rocksdb/wiki/WAL-Recovery-Modes")
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING,
              "https://github.com/facebook/rocksdb/blob/v11.8.1/include/rocksdb/options.h");

  private final WriteOptions write;
  private final ReadOptions read;
  private final RocksDB db;
  private final ThreadLocal<WriteBatch> batches =
      ThreadLocal.withInitial(() -> closeLater(new WriteBatch())); // to reuse its memory

  public RocksJava(Options options) throws Exception {
    RocksDB.loadLibrary();
    var requested = new RocksJavaOptions(options);
    write = closeLater(new WriteOptions().setSync(options.isDurable()));
    read = closeLater(new ReadOptions().setVerifyChecksums(options.isSet("verify_checksum")));
    db = requested.open(options.path());
    closeLater(db::closeE);
    requested.readBack(options.path()).forEach((name, value) -> reported(name, () -> value));
    requested("sync", options.isDurable());
    requested("verify_checksum", options.isSet("verify_checksum"));
  }

  @Override
  public void settle() throws Exception {
    int polls = 0; // a job that is due starts at once; one may stay due for ever
    while (count("num-immutable-mem-table", "compaction-pending", "num-running-flushes",
            "num-running-compactions") > 0) {
      polls = count("num-running-flushes", "num-running-compactions") > 0 ? 0 : polls + 1;
      if (polls > 10_000) throw new IllegalStateException("work that is due is not started");
      Thread.sleep(1);
    }
    if (count("background-errors") > 0) throw new IllegalStateException("see RocksDB's LOG");
  }

  private long count(String... properties) throws RocksDBException {
    long sum = 0;
    for (String name : properties) sum += db.getLongProperty("rocksdb." + name);
    return sum;
  }

  @Override
  public void compact() throws RocksDBException {
    try (var options = new FlushOptions()) {
      db.flush(options);
    }
    db.compactRange();
  }

  @Override
  public byte[] get(byte[] key) throws RocksDBException {
    return db.get(read, key);
  }

  @Override
  public void write(byte[][] keys, byte[][] values) throws RocksDBException {
    if (keys.length == 1 && values[0] != null) {
      db.put(write, keys[0], values[0]);
      return;
    }
    WriteBatch batch = batches.get();
    batch.clear();
    for (int i = 0; i < keys.length; ++i) {
      if (values[i] == null) batch.delete(keys[i]);
      else batch.put(keys[i], values[i]);
    }
    db.write(write, batch);
  }

  @Override
  public void scan(byte[] start, boolean backward, Visitor visit) throws RocksDBException {
    try (var it = db.newIterator(read)) {
      if (!backward) it.seek(start);
      else if (start.length == 0) it.seekToLast();
      else it.seekForPrev(start);
      while (it.isValid() && visit.visit(it.key(), it.value())) {
        if (backward) it.prev();
        else it.next();
      }
      it.status();
    }
  }
}
