package engines;

import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Engine;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import kvmatrix.Session;
import kvmatrix.Unsupported;
import kvmatrix.Visitor;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.Serializer;
import org.mapdb.StoreDirect;

/** The tree of MapDB. https://mapdb.org */
public final class MapDb implements Engine {
  private static final String DOCUMENT =
      "https://mapdb.org/book/performance/";

  public static final Description DESCRIPTION =
      new Description("Apache-2.0", Scans.BOTH_WAYS)
          .withoutBatches()
          .flag("max_node_size", 32, "entries of a node of the tree")
          .flag("mmap", false, "map the file into memory")
          .promise(Durability.BUFFERED, Promise.MAY_BE_CORRUPT, DOCUMENT)
          .promise(Durability.CONSISTENT, Promise.LOSES_NOTHING, DOCUMENT)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, DOCUMENT);

  private final Options options;
  private final boolean hasTransactions;
  private final DB db;
  private final ConcurrentNavigableMap<byte[], byte[]> map;

  public MapDb(Options options) {
    this.options = options;
    hasTransactions = options.durability() != Durability.BUFFERED;
    var maker = DBMaker.fileDB(options.path().resolve("data.mapdb").toFile());
    if (options.isSet("mmap")) maker.fileMmapEnable();
    if (hasTransactions) maker.transactionEnable();
    else maker.fileSyncDisable();
    db = maker.make();
    map =
        db.treeMap("data", Serializer.BYTE_ARRAY, Serializer.BYTE_ARRAY)
            .maxNodeSize(options.integer("max_node_size"))
            .createOrOpen();
  }

  @Override
  public void flush() {
    db.commit(); // marks the file as intact
  }

  @Override
  public void settle() {} // there are no threads

  @Override
  public void compact() throws Unsupported {
    if (!(db.getStore() instanceof StoreDirect)) {
      throw new Unsupported("does not compact a store with transactions");
    }
    db.getStore().compact();
  }

  @Override
  public Map<String, String> settings() {
    return Map.of(
        "max_node_size", options.text("max_node_size") + " (as requested)",
        "mmap", options.text("mmap") + " (as requested)",
        "store", db.getStore().getClass().getSimpleName(),
        "file_sync", hasTransactions + " (as requested)");
  }

  @Override
  public void close() {
    db.close();
  }

  @Override
  public Session session() {
    return new MapSession();
  }

  private final class MapSession implements Session {
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
      if (hasTransactions) db.commit();
    }

    @Override
    public void scan(byte[] start, boolean backward, Visitor visit) {
      var entries = backward ? map.descendingMap() : map;
      if (start.length > 0) entries = entries.tailMap(start);
      for (var entry : entries.entrySet()) {
        if (!visit.visit(entry.getKey(), entry.getValue())) return;
      }
    }
  }
}
