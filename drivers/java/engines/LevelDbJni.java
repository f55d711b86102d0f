package engines;

import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import org.fusesource.leveldbjni.JniDBFactory;

/** LevelDB through leveldbjni. https://github.com/fusesource/leveldbjni */
public final class LevelDbJni extends LevelDbApi {
  private static final String DOCUMENT =
      "https://github.com/google/leveldb/blob/v1.14/doc/index.html";

  public static final Description DESCRIPTION =
      addFlags(new Description("BSD-3-Clause", Scans.BOTH_WAYS).codec("snappy"))
          .promise(Durability.BUFFERED, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.CONSISTENT, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, DOCUMENT);

  public LevelDbJni(Options options) throws Exception {
    super(JniDBFactory.factory, options);
  }

  /**
   * Waits until the background thread has nothing to do. Suspending it takes effect after the jobs
   * that were queued before; a job may have queued another one, and then the files have changed.
   */
  @Override
  public void settle() throws Exception {
    String before;
    String after = "";
    do {
      before = after;
      // Throws the error of the background thread. It may also fill a memtable.
      db.write(db.createWriteBatch());
      db.suspendCompactions();
      db.resumeCompactions();
      after = db.getProperty("leveldb.stats");
    } while (!after.equals(before));
  }

  @Override
  public void compact() throws Exception {
    db.compactRange(null, null);
    settle(); // the last level may have outgrown its limit
  }

  @Override
  public String version() {
    return JniDBFactory.VERSION;
  }
}
