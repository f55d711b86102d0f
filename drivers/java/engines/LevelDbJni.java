package engines;

import java.io.IOException;
import java.util.Arrays;
import kvmatrix.*;
import org.fusesource.leveldbjni.JniDBFactory;
import org.iq80.leveldb.DBIterator;

/** LevelDB through leveldbjni. https://github.com/fusesource/leveldbjni */
public final class LevelDbJni extends LevelDbApi {
  public static final Description DESCRIPTION =
      describe("BSD-3-Clause", Scans.BOTH_WAYS).version(() -> JniDBFactory.VERSION);

  public LevelDbJni(Options options) throws Exception {
    super(JniDBFactory.factory, options);
  }

  @Override
  protected Object awaitJobs() throws InterruptedException {
    // Throws the error of the background thread. It may also fill a memtable.
    db.write(db.createWriteBatch());
    db.suspendCompactions();
    db.resumeCompactions();
    return db.getProperty("leveldb.stats");
  }

  @Override
  public void compact() {
    db.compactRange(null, null);
  }

  @Override
  public void scan(byte[] start, boolean backward, Visitor visit) throws IOException {
    if (!backward) {
      super.scan(start, backward, visit);
      return;
    }
    try (DBIterator it = db.iterator()) {
      boolean fromEnd = start.length == 0;
      if (!fromEnd) it.seek(start);
      if (fromEnd || !it.hasNext()) it.seekToLast();
      if (!it.hasNext()) return;
      var entry = it.peekNext();
      boolean isAfter = !fromEnd && Arrays.compareUnsigned(entry.getKey(), start) > 0;
      if (!isAfter && !visit.visit(entry.getKey(), entry.getValue())) return;
      while (it.hasPrev()) {
        entry = it.prev();
        if (!visit.visit(entry.getKey(), entry.getValue())) return;
      }
    }
  }
}
