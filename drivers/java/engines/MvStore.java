package engines;

import java.util.Map;
import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Engine;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import kvmatrix.Session;
import kvmatrix.Visitor;
import org.h2.engine.Constants;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.RandomAccessStore;
import org.h2.mvstore.type.ByteArrayDataType;

/** The storage engine of H2, without its transactions. https://h2database.com/html/mvstore.html */
public final class MvStore implements Engine {
  private static final String DOCUMENT = "https://h2database.com/html/mvstore.html#logStructured";
  private static final int QUICK_MS = 30; // the background thread works every third of it
  private static final int QUIET_MS = 100;

  public static final Description DESCRIPTION =
      new Description("MPL-2.0 OR EPL-1.0", Scans.BOTH_WAYS)
          .codec("lzf")
          .withoutBatches()
          .flag("page_split_size", 16 << 10, "bytes in memory of a page that is split")
          .flag("auto_commit_buffer_kb", 19 << 10, "KiB of changed pages that are written")
          .flag("auto_commit_delay", 1000, "milliseconds until changes are written")
          .flag("auto_compact_fill_rate", 90, "per cent of live data that is aimed at")
          .promise(Durability.BUFFERED, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.CONSISTENT, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, DOCUMENT);

  private final Options options;
  private final MVStore store;
  private final MVMap<byte[], byte[]> map;
  private long settled = -1; // operations() at that time

  public MvStore(Options options) {
    this.options = options;
    var builder =
        new MVStore.Builder()
            .fileName(options.path().resolve("data.mv.db").toString())
            .cacheSize((int) Math.max(1, options.cacheSize() >> 20))
            .pageSplitSize(options.integer("page_split_size"))
            .autoCommitBufferSize(options.integer("auto_commit_buffer_kb"))
            .autoCompactFillRate(options.integer("auto_compact_fill_rate"));
    if (options.compression()) builder.compress();
    store = builder.open();
    store.setAutoCommitDelay(options.integer("auto_commit_delay"));
    var bytes = ByteArrayDataType.INSTANCE;
    map =
        store.openMap(
            "data", new MVMap.Builder<byte[], byte[]>().keyType(bytes).valueType(bytes));
  }

  /** Commits, and waits for commits of the background thread, which commit() does not. */
  @Override
  public void flush() {
    store.commit();
    store.executeFilestoreOperation(() -> {});
  }

  /** Has the background thread look for work more often until it finds none. */
  @Override
  public void settle() throws InterruptedException {
    if (operations() == settled && !store.hasUnsavedChanges()) return;
    store.setAutoCommitDelay(QUICK_MS);
    do {
      settled = operations();
      Thread.sleep(QUIET_MS);
    } while (operations() != settled);
    store.setAutoCommitDelay(options.integer("auto_commit_delay"));
    if (store.getPanicException() != null) throw store.getPanicException();
  }

  private long operations() {
    return store.getFileStore().getReadCount() + store.getFileStore().getWriteCount();
  }

  @Override
  public void compact() throws InterruptedException {
    int retention = store.getRetentionTime(); // of chunks; a compaction ends it
    int versions = store.getVersionsToKeep(); // whose chunks it would keep
    flush();
    store.setVersionsToKeep(0);
    store.compactFile(Integer.MAX_VALUE);
    var files = (RandomAccessStore) store.getFileStore();
    files.compactMoveChunks(100, Long.MAX_VALUE, store); // compactFile() moves a few
    store.setVersionsToKeep(versions);
    store.setRetentionTime(retention);
    settle();
  }

  @Override
  public Map<String, String> settings() {
    return Map.of(
        "cache_mb", Integer.toString(store.getCacheSize()),
        "page_split_size", Long.toString(store.getFileStore().getMaxPageSize()),
        "keys_per_page", Integer.toString(store.getKeysPerPage()),
        "auto_commit_memory", Integer.toString(store.getAutoCommitMemory()),
        "auto_commit_delay", Integer.toString(store.getAutoCommitDelay()),
        "auto_compact_fill_rate", options.text("auto_compact_fill_rate") + " (as requested)",
        "compress", options.compression() + " (as requested)",
        "retention_time", Integer.toString(store.getRetentionTime()),
        "sync", options.isDurable() + " (as requested)");
  }

  @Override
  public String version() {
    return Constants.VERSION;
  }

  @Override
  public void close() {
    store.close();
  }

  @Override
  public Session session() {
    return new MvSession();
  }

  private final class MvSession implements Session {
    @Override
    public byte[] get(byte[] key) {
      return map.get(key);
    }

    @Override
    public void write(byte[][] keys, byte[][] values) {
      for (int i = 0; i < keys.length; ++i) {
        if (values[i] == null) map.remove(keys[i]);
        else map.put(keys[i], values[i]);
      }
      if (!options.isDurable()) return;
      store.commit();
      store.executeFilestoreOperation(store::sync);
    }

    @Override
    public void scan(byte[] start, boolean backward, Visitor visit) {
      var version = store.registerVersionUsage(); // keeps the pages of the cursor
      try {
        var cursor = map.cursor(start.length == 0 ? null : start, null, backward);
        while (cursor.hasNext() && visit.visit(cursor.next(), cursor.getValue())) continue;
      } finally {
        store.deregisterVersionUsage(version);
      }
    }
  }
}
