package engines;

import java.util.concurrent.ConcurrentNavigableMap;
import kvmatrix.*;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.Serializer;
import org.mapdb.StoreDirect;

/** The tree of MapDB. https://mapdb.org */
public final class MapDb extends MapEngine<ConcurrentNavigableMap<byte[], byte[]>> {
  public static final Description DESCRIPTION =
      new Description("Apache-2.0", Scans.BOTH_WAYS)
          .flag("max_node_size", 32, "entries of a node of the tree")
          .flag("mmap", false, "map the file into memory")
          .promises(Promise.MAY_BE_CORRUPT, Promise.LOSES_NOTHING, Promise.LOSES_NOTHING,
              "https://mapdb.org/book/performance/");

  private final DB db;

  public MapDb(Options options) {
    super(options.durability() != Durability.BUFFERED);
    var maker = DBMaker.fileDB(options.path().resolve("data.mapdb").toFile());
    if (options.isSet("mmap")) maker.fileMmapEnable();
    if (commits) maker.transactionEnable();
    else maker.fileSyncDisable();
    db = closeLater(maker.make());
    map =
        db.treeMap("data", Serializer.BYTE_ARRAY, Serializer.BYTE_ARRAY)
            .maxNodeSize(options.integer("max_node_size"))
            .createOrOpen();
    requested("max_node_size", options.text("max_node_size"));
    requested("mmap", options.text("mmap"));
    reported("store", () -> db.getStore().getClass().getSimpleName());
    requested("file_sync", commits);
  }

  @Override
  protected void commit() {
    db.commit();
  }

  @Override
  public void flush() {
    db.commit(); // marks the file as intact
  }

  @Override
  public void compact() throws Unsupported {
    if (!(db.getStore() instanceof StoreDirect)) {
      throw new Unsupported("does not compact a store with transactions");
    }
    db.getStore().compact();
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
