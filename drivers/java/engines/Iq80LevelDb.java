package engines;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import kvmatrix.*;
import org.iq80.leveldb.impl.Iq80DBFactory;

/** LevelDB rewritten in Java. https://github.com/dain/leveldb */
public final class Iq80LevelDb extends LevelDbApi {
  public static final Description DESCRIPTION =
      describe("Apache-2.0", Scans.FORWARD).version(() -> Iq80DBFactory.VERSION);

  private final Path path;

  public Iq80LevelDb(Options options) throws Exception {
    super(Iq80DBFactory.factory, options);
    path = options.path();
  }

  @Override
  protected Object awaitJobs() throws Exception {
    Map<String, Long> sizes = new TreeMap<>();
    db.suspendCompactions();
    try (var files = Files.newDirectoryStream(path)) {
      for (Path file : files) sizes.put(file.toString(), Files.size(file));
    }
    db.resumeCompactions();
    db.getProperty(""); // throws the error of the background thread
    return sizes;
  }
}
