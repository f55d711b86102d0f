package kvmatrix;

import java.nio.file.Path;
import java.util.Map;

/**
 * How to open a database.
 *
 * @param path an existing directory
 * @param cacheSize bytes that the engine may use to cache entries
 * @param compression whether to compress if the engine has a codec
 * @param threads sessions that will be used at once
 * @param entries expected entries, and their sizes in bytes; 0: unknown
 * @param flags the values of the engine's own flags
 */
public record Options(
    Path path,
    long cacheSize,
    boolean compression,
    Durability durability,
    long threads,
    long entries,
    int keySize,
    int valueSize,
    Map<String, String> flags) {

  public boolean isDurable() {
    return durability == Durability.DURABLE;
  }

  public String text(String flag) {
    return flags.get(flag);
  }

  public long number(String flag) {
    return Long.parseLong(flags.get(flag));
  }

  public int integer(String flag) {
    return Math.toIntExact(number(flag));
  }

  public boolean isSet(String flag) {
    return Boolean.parseBoolean(flags.get(flag));
  }
}
