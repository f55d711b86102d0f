package engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import org.iq80.leveldb.impl.Iq80DBFactory;

/** LevelDB rewritten in Java. https://github.com/dain/leveldb */
public final class Iq80LevelDb extends LevelDbApi {
  private static final String DOCUMENT =
      "https://github.com/google/leveldb/blob/v1.14/doc/index.html";

  public static final Description DESCRIPTION =
      addFlags(new Description("Apache-2.0", Scans.FORWARD).codec("snappy"))
          .promise(Durability.BUFFERED, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.CONSISTENT, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, DOCUMENT);

  private final Path path;

  public Iq80LevelDb(Options options) throws Exception {
    super(Iq80DBFactory.factory, options);
    path = options.path();
  }

  /**
   * Waits until the background thread has nothing to do. Suspending it takes effect after the jobs
   * that were queued before; a job may have queued another one, and then the files have changed.
   */
  @Override
  public void settle() throws Exception {
    Map<String, Long> before;
    Map<String, Long> after = Map.of();
    do {
      before = after;
      db.suspendCompactions();
      after = files();
      db.resumeCompactions();
      db.getProperty(""); // throws the error of the background thread
    } while (!after.equals(before));
  }

  private Map<String, Long> files() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (var files = Files.newDirectoryStream(path)) {
      for (Path file : files) sizes.put(file.toString(), Files.size(file));
    }
    return sizes;
  }

  @Override
  public String version() {
    return Iq80DBFactory.VERSION;
  }
}
