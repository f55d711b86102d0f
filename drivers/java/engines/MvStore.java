package engines;

import kvmatrix.*;
import org.h2.engine.Constants;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.RandomAccessStore;
import org.h2.mvstore.type.ByteArrayDataType;

/** The storage engine of H2, without its transactions. https://h2database.com/html/mvstore.html */
public final class MvStore extends MapEngine<MVMap<byte[], byte[]>> {
  public static final Description DESCRIPTION =
      new Description("MPL-2.0 OR EPL-1.0", Scans.BOTH_WAYS)
          .codec("lzf")
          .version(() -> Constants.VERSION)
          .flag("page_split_size", 16 << 10, "bytes in memory of a page that is split")
          .flag("auto_commit_buffer_kb", 19 << 10, "KiB of changed pages that are written")
          .flag("auto_commit_delay", 1000, "milliseconds until changes are written")
          .flag("auto_compact_fill_rate", 90, "per cent of live data that is aimed at")
          .promises(Promise.LOSES_NEWEST, Promise.LOSES_NEWEST, Promise.LOSES_NOTHING,
              "https://h2database.com/html/mvstore.html#logStructured");

  private final MVStore store;
  private final Idle idle;

  public MvStore(Options options) {
    super(options.isDurable());
    var builder = new MVStore.Builder().fileName(options.path().resolve("data.mv.db").toString());
    builder.cacheSize((int) Math.max(1, options.cacheSize() >> 20));
    builder.pageSplitSize(options.integer("page_split_size"));
    builder.autoCommitBufferSize(options.integer("auto_commit_buffer_kb"));
    builder.autoCompactFillRate(options.integer("auto_compact_fill_rate"));
    if (options.compression()) builder.compress();
    store = closeLater(builder.open());
    store.setAutoCommitDelay(options.integer("auto_commit_delay"));
    var type = ByteArrayDataType.INSTANCE;
    map = store.openMap("data", new MVMap.Builder<byte[], byte[]>().keyType(type).valueType(type));
    var file = store.getFileStore();
    idle = new Idle(() -> file.getReadCount() + file.getWriteCount());
    reported("cache_mb", store::getCacheSize);
    reported("page_split_size", store::getMaxPageSize);
    reported("keys_per_page", store::getKeysPerPage);
    reported("auto_commit_memory", store::getAutoCommitMemory);
    reported("auto_commit_delay", store::getAutoCommitDelay);
    requested("auto_compact_fill_rate", options.text("auto_compact_fill_rate"));
    requested("compress", options.compression());
    reported("retention_time", store::getRetentionTime);
    requested("sync", options.isDurable());
  }

  /** Commits, and waits for commits of the background thread, which commit() does not. */
  @Override
  public void flush() {
    store.commit();
    store.executeFilestoreOperation(() -> {});
  }

  /** Has the background thread look for work more often until it finds none. */
  @Override
  public void settle() throws Exception {
    if (idle.isStill() && !store.hasUnsavedChanges()) return;
    int delay = store.getAutoCommitDelay();
    store.setAutoCommitDelay(30); // ms; the background thread works every third of it
    idle.await(100);
    store.setAutoCommitDelay(delay);
    if (store.getPanicException() != null) throw store.getPanicException();
  }

  @Override
  public void compact() {
    int retention = store.getRetentionTime(); // of chunks; a compaction ends it
    int versions = store.getVersionsToKeep(); // whose chunks it would keep
    flush();
    store.setVersionsToKeep(0);
    store.compactFile(Integer.MAX_VALUE);
    var file = (RandomAccessStore) store.getFileStore();
    file.compactMoveChunks(100, Long.MAX_VALUE, store); // compactFile() moves a few
    store.setVersionsToKeep(versions);
    store.setRetentionTime(retention);
  }

  @Override
  protected void commit() {
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
