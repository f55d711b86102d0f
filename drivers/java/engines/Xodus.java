package engines;

import static jetbrains.exodus.ByteIterableBase.readIterable;

import java.util.Map;
import jetbrains.exodus.ArrayByteIterable;
import jetbrains.exodus.env.*;
import kvmatrix.*;

/** An environment of JetBrains Xodus with one store. https://github.com/JetBrains/xodus */
public final class Xodus extends Engine {
  public static final Description DESCRIPTION =
      new Description("Apache-2.0", Scans.BOTH_WAYS)
          .flag("log_file_kb", 8192, "KiB of a file of the log")
          .flag("log_cache_page_size", 64 << 10, "bytes of a page of the cache")
          .flag("tree_max_page_size", 128, "entries of a page of the tree")
          .flag("gc_min_utilization", 50, "per cent of live data that is aimed at")
          .flag("prefixing", false, "keep entries in a Patricia trie instead of a B+ tree")
          .promises(Promise.LOSES_NEWEST, Promise.LOSES_NEWEST, Promise.LOSES_NOTHING,
              "https://github.com/JetBrains/xodus/blob/v2.0.1/README.md")
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING,
              "https://github.com/JetBrains/xodus/blob/v2.0.1/openAPI/src/main/java/jetbrains/exodus/env/EnvironmentConfig.java");

  private final EnvironmentConfig config = new EnvironmentConfig(); // the environment keeps it
  private final EnvironmentImpl environment;
  private final Store store;

  public Xodus(Options options) {
    config.setMemoryUsage(Math.max(1 << 20, options.cacheSize())).setLogCacheShared(false);
    config.setLogCachePageSize(options.integer("log_cache_page_size"));
    config.setLogDurableWrite(options.isDurable()).setLogFileSize(options.number("log_file_kb"));
    config.setTreeMaxPageSize(options.integer("tree_max_page_size"));
    config.setGcMinUtilization(options.integer("gc_min_utilization"));
    config.setLogAllowRamDisk(true).setLogAllowRemovable(true).setLogAllowRemote(true);
    var opened = Environments.newInstance(options.path().toFile(), config);
    environment = (EnvironmentImpl) closeLater(opened);
    var kind = StoreConfig.getStoreConfig(false, options.isSet("prefixing"));
    store = environment.computeInTransaction(t -> environment.openStore("data", kind, t));
    requested("memory_usage", config.getMemoryUsage());
    reported("log_cache_shared", config::isLogCacheShared);
    reported("log_cache_page_size", config::getLogCachePageSize);
    reported("log_durable_write", config::getLogDurableWrite);
    reported("log_file_size", config::getLogFileSize);
    reported("tree_max_page_size", config::getTreeMaxPageSize);
    reported("gc_min_utilization", config::getGcMinUtilization);
    reported("prefixing", () -> store.getConfig().prefixing);
  }

  /** Has the garbage collector do at once what it would do seconds later. */
  @Override
  public void settle() {
    var usual = Map.copyOf(config.getSettings());
    var gc = environment.getGC();
    config.setGcStartIn(0).setGcRunPeriod(0).setGcFilesDeletionDelay(0);
    int before;
    do {
      before = gc.getUtilizationProfile().totalUtilizationPercent();
      gc.wake(true);
      gc.waitForPendingGC();
    } while (gc.getUtilizationProfile().totalUtilizationPercent() > before
        && gc.getUtilizationProfile().totalUtilizationPercent() < config.getGcMinUtilization());
    usual.forEach(config::setSetting);
  }

  @Override
  public byte[] get(byte[] key) {
    return environment.computeInReadonlyTransaction(transaction -> {
      var value = store.get(transaction, new ArrayByteIterable(key));
      return value == null ? null : readIterable(value);
    });
  }

  /** Xodus repeats a transaction that conflicts with another one. */
  @Override
  public void write(byte[][] keys, byte[][] values) {
    environment.executeInTransaction(transaction -> {
      for (int i = 0; i < keys.length; ++i) {
        var key = new ArrayByteIterable(keys[i]);
        if (values[i] == null) store.delete(transaction, key);
        else store.put(transaction, key, new ArrayByteIterable(values[i]));
      }
    });
  }

  @Override
  public void scan(byte[] start, boolean backward, Visitor visit) {
    environment.executeInReadonlyTransaction(transaction -> {
      try (var it = store.openCursor(transaction)) {
        var key = new ArrayByteIterable(start);
        boolean found = (!backward || start.length > 0) && it.getSearchKeyRange(key) != null;
        if (backward && !found) found = it.getLast();
        else if (backward && it.getKey().compareTo(key) > 0) found = it.getPrev();
        while (found && visit.visit(readIterable(it.getKey()), readIterable(it.getValue()))) {
          found = backward ? it.getPrev() : it.getNext();
        }
      }
    });
  }
}
