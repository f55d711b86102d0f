package engines;

import java.util.Map;
import jetbrains.exodus.ArrayByteIterable;
import jetbrains.exodus.ByteIterable;
import jetbrains.exodus.env.Environment;
import jetbrains.exodus.env.EnvironmentConfig;
import jetbrains.exodus.env.EnvironmentImpl;
import jetbrains.exodus.env.Environments;
import jetbrains.exodus.env.Store;
import jetbrains.exodus.env.StoreConfig;
import jetbrains.exodus.env.Transaction;
import jetbrains.exodus.gc.GarbageCollector;
import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Engine;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import kvmatrix.Session;
import kvmatrix.Visitor;

/** An environment of JetBrains Xodus with one store. https://github.com/JetBrains/xodus */
public final class Xodus implements Engine {
  private static final String ACID = "https://github.com/JetBrains/xodus/blob/v2.0.1/README.md";
  private static final String SYNC =
      "https://github.com/JetBrains/xodus/blob/v2.0.1/openAPI/src/main/java/jetbrains/exodus/env/EnvironmentConfig.java";

  public static final Description DESCRIPTION =
      new Description("Apache-2.0", Scans.BOTH_WAYS)
          .flag("log_file_kb", 8192, "KiB of a file of the log")
          .flag("log_cache_page_size", 64 << 10, "bytes of a page of the cache")
          .flag("tree_max_page_size", 128, "entries of a page of the tree")
          .flag("gc_min_utilization", 50, "per cent of live data that is aimed at")
          .flag("prefixing", false, "keep entries in a Patricia trie instead of a B+ tree")
          .promise(Durability.BUFFERED, Promise.LOSES_NEWEST, ACID)
          .promise(Durability.CONSISTENT, Promise.LOSES_NEWEST, ACID)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, SYNC);

  private final Environment environment;
  private final GarbageCollector gc;
  private final Store store;

  public Xodus(Options options) {
    var config =
        new EnvironmentConfig()
            .setMemoryUsage(Math.max(1 << 20, options.cacheSize()))
            .setLogCacheShared(false)
            .setLogCachePageSize(options.integer("log_cache_page_size"))
            .setLogDurableWrite(options.isDurable())
            .setLogFileSize(options.number("log_file_kb"))
            .setTreeMaxPageSize(options.integer("tree_max_page_size"))
            .setGcMinUtilization(options.integer("gc_min_utilization"))
            .setLogAllowRamDisk(true)
            .setLogAllowRemovable(true)
            .setLogAllowRemote(true);
    environment = Environments.newInstance(options.path().toFile(), config);
    gc = ((EnvironmentImpl) environment).getGC();
    var kind =
        options.isSet("prefixing")
            ? StoreConfig.WITHOUT_DUPLICATES_WITH_PREFIXING
            : StoreConfig.WITHOUT_DUPLICATES;
    store = environment.computeInTransaction(t -> environment.openStore("data", kind, t));
  }

  @Override
  public void flush() {} // a commit has written everything

  /** Has the garbage collector do at once what it would do seconds later. */
  @Override
  public void settle() {
    var config = environment.getEnvironmentConfig();
    int start = config.getGcStartIn();
    int period = config.getGcRunPeriod();
    int delay = config.getGcFilesDeletionDelay();
    config.setGcStartIn(0).setGcRunPeriod(0).setGcFilesDeletionDelay(0);
    int before;
    do {
      before = utilization();
      gc.wake(true);
      gc.waitForPendingGC();
    } while (utilization() > before && utilization() < config.getGcMinUtilization());
    config.setGcStartIn(start).setGcRunPeriod(period).setGcFilesDeletionDelay(delay);
  }

  private int utilization() {
    return gc.getUtilizationProfile().totalUtilizationPercent();
  }

  @Override
  public Map<String, String> settings() {
    var config = environment.getEnvironmentConfig();
    return Map.of(
        "memory_usage", String.valueOf(config.getMemoryUsage()) + " (as requested)",
        "log_cache_shared", String.valueOf(config.isLogCacheShared()),
        "log_cache_page_size", String.valueOf(config.getLogCachePageSize()),
        "log_durable_write", String.valueOf(config.getLogDurableWrite()),
        "log_file_size", String.valueOf(config.getLogFileSize()),
        "tree_max_page_size", String.valueOf(config.getTreeMaxPageSize()),
        "gc_min_utilization", String.valueOf(config.getGcMinUtilization()),
        "prefixing", String.valueOf(store.getConfig().prefixing));
  }

  @Override
  public void close() {
    environment.close();
  }

  @Override
  public Session session() {
    return new XodusSession();
  }

  private final class XodusSession implements Session {
    @Override
    public byte[] get(byte[] key) {
      Transaction transaction = environment.beginReadonlyTransaction();
      try {
        ByteIterable value = store.get(transaction, new ArrayByteIterable(key));
        return value == null ? null : bytes(value);
      } finally {
        transaction.abort();
      }
    }

    /** Xodus repeats a transaction that conflicts with another one. */
    @Override
    public void write(byte[][] keys, byte[][] values) {
      environment.executeInTransaction(
          transaction -> {
            for (int i = 0; i < keys.length; ++i) {
              var key = new ArrayByteIterable(keys[i]);
              if (values[i] == null) store.delete(transaction, key);
              else store.put(transaction, key, new ArrayByteIterable(values[i]));
            }
          });
    }

    @Override
    public void scan(byte[] start, boolean backward, Visitor visit) {
      Transaction transaction = environment.beginReadonlyTransaction();
      try (var cursor = store.openCursor(transaction)) {
        var key = new ArrayByteIterable(start);
        boolean isAt;
        if (start.length == 0) isAt = backward ? cursor.getLast() : cursor.getNext();
        else isAt = cursor.getSearchKeyRange(key) != null;
        if (backward && start.length > 0) {
          if (!isAt) isAt = cursor.getLast();
          else if (cursor.getKey().compareTo(key) > 0) isAt = cursor.getPrev();
        }
        while (isAt && visit.visit(bytes(cursor.getKey()), bytes(cursor.getValue()))) {
          isAt = backward ? cursor.getPrev() : cursor.getNext();
        }
      } finally {
        transaction.abort();
      }
    }

    private static byte[] bytes(ByteIterable bytes) {
      byte[] copy = new byte[bytes.getLength()];
      int i = 0;
      for (var it = bytes.iterator(); it.hasNext(); ) copy[i++] = it.next();
      return copy;
    }
  }
}
