package engines;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Engine;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import kvmatrix.Session;
import kvmatrix.Visitor;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** RocksDB through its Java API, with arrays of bytes. https://github.com/facebook/rocksdb */
public final class RocksJava implements Engine {
  private static final String RECOVERY =
      "https://github.com/facebook/rocksdb/wiki/WAL-Recovery-Modes";
  private static final String SYNC =
      "https://github.com/facebook/rocksdb/blob/v11.8.1/include/rocksdb/options.h";

  public static final Description DESCRIPTION =
      RocksJavaOptions.addFlags(new Description("Apache-2.0", Scans.BOTH_WAYS).codec("snappy"))
          .promise(Durability.BUFFERED, Promise.LOSES_NEWEST, RECOVERY)
          .promise(Durability.CONSISTENT, Promise.LOSES_NEWEST, RECOVERY)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, SYNC);

  private final RocksDB db;
  private final Map<String, String> settings;
  private final WriteOptions write;
  private final ReadOptions read;

  public RocksJava(Options options) throws Exception {
    RocksDB.loadLibrary();
    RocksJavaOptions requested = new RocksJavaOptions(options);
    boolean verifies = options.isSet("verify_checksum");
    Path path = options.path();
    List<ColumnFamilyHandle> families = new ArrayList<>();
    var family = new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, requested.family());
    db = RocksDB.open(requested.database(), path.toString(), List.of(family), families);
    settings = requested.readBack(path);
    for (var flag : Map.of("sync", options.isDurable(), "verify_checksum", verifies).entrySet()) {
      settings.put(flag.getKey(), flag.getValue() + " (as requested)");
    }
    write = new WriteOptions().setSync(options.isDurable());
    read = new ReadOptions().setVerifyChecksums(verifies);
  }

  @Override
  public Session session() {
    return new RocksSession();
  }

  @Override
  public void flush() {} // a write has handed everything over

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
  public void compact() throws Exception {
    try (var options = new org.rocksdb.FlushOptions()) {
      db.flush(options);
    }
    db.compactRange();
    settle(); // the last level may have outgrown its limit
  }

  @Override
  public Map<String, String> settings() {
    return settings;
  }

  @Override
  public String version() {
    return RocksDB.rocksdbVersion().toString();
  }

  @Override
  public void close() throws Exception {
    db.closeE();
    read.close();
    write.close();
  }

  private final class RocksSession implements Session {
    private final WriteBatch batch = new WriteBatch();

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
      batch.clear();
      for (int i = 0; i < keys.length; ++i) {
        if (values[i] == null) batch.delete(keys[i]);
        else batch.put(keys[i], values[i]);
      }
      db.write(write, batch);
    }

    @Override
    public void scan(byte[] start, boolean backward, Visitor visit) throws RocksDBException {
      try (RocksIterator it = db.newIterator(read)) {
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

    @Override
    public void close() {
      batch.close();
    }
  }
}
