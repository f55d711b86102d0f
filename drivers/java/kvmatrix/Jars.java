package kvmatrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Checks that jars are what was pinned. */
final class Jars {
  private static final String REMEDY = "; run scripts/setup to install it again";

  private Jars() {}

  /**
   * Throws unless all jars are the ones that the plug-in was built with. Their contents are read
   * only if their sizes or times have changed.
   *
   * @param jars the size, time of change, SHA-256 and path of each
   */
  static void check(String[] jars) throws IOException {
    for (String jar : jars) {
      String[] words = jar.split(" ", 4);
      Path path = Path.of(words[3]);
      if (!Files.exists(path)) throw new IOException("there is no " + path + REMEDY);
      if (state(path).equals(words[0] + " " + words[1])) continue;
      String found = sha256(path);
      if (!found.equals(words[2])) {
        throw new IOException(
            path + " has the SHA-256 " + found + ", not " + words[2] + " as pinned" + REMEDY);
      }
    }
  }

  /** Returns the size and the time of the last change of a file. */
  static String state(Path path) throws IOException {
    return Files.size(path) + " " + Files.getLastModifiedTime(path).toMillis();
  }

  static String sha256(Path path) throws IOException {
    try (var in = Files.newInputStream(path)) {
      var digest = new DigestInputStream(in, MessageDigest.getInstance("SHA-256"));
      byte[] part = new byte[1 << 20];
      while (digest.read(part) >= 0) continue;
      return HexFormat.of().formatHex(digest.getMessageDigest().digest());
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
