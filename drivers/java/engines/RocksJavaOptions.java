package engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import kvmatrix.*;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** The flags of RocksJava, with the names and defaults of on_request/rocksdb.cc, and their options. */
final class RocksJavaOptions {
  private static final List<String> PRIORITIES =
      List.of("kByCompensatedSize", "kOldestLargestSeqFirst", "kOldestSmallestSeqFirst",
          "kMinOverlappingRatio", "kRoundRobin");
  private static final Map<String, String> CODECS =
      Map.of("none", "kNoCompression", "snappy", "kSnappyCompression", "lz4", "kLZ4Compression",
          "zstd", "kZSTD", "disable", "kDisableCompressionOption");

  private final Properties database = new Properties();
  private final Properties family = new Properties();
  private final Properties table = new Properties();

  static Description addFlags(Description engine) {
    return engine
        .flag("write_buffer_size", 64 << 20, "bytes of a memtable")
        .flag("target_file_size_base", 64 << 20, "bytes of a file of level 1")
        .flag("max_bytes_for_level_base", 256 << 20, "bytes of level 1")
        .flag("level_compaction_dynamic_level_bytes", true,
            "derive the sizes of the levels from that of the last one")
        .flag("compaction_pri", 3, "which file is compacted first, as in rocksdb::CompactionPri")
        .flag("max_background_jobs", 2, "flushes and compactions at once")
        .flag("open_files", -1, "table files kept open; -1 means all")
        .flag("paranoid_checks", true, "stop writing when damaged data is detected")
        .flag("bytes_per_sync", 0,
            "bytes of a table after which the system is told to write them to the disk; 0: never")
        .flag("block_size", 4 << 10, "bytes of a table block")
        .flag("bloom_bits", "-1", "Bloom filter bits per key; negative: no filter")
        .flag("format_version", 7, "format of the tables")
        .flag("cache_index_and_filter_blocks", false, "keep indexes and filters in the block cache")
        .flag("pin_l0_filter_and_index_blocks_in_cache", false, "never evict those of level 0")
        .flag("compression_type", "snappy", "codec of --compression: none, snappy, lz4 or zstd")
        .flag("bottommost_compression_type", "disable",
            "codec of the last level, likewise; disable means that of the others")
        .flag("verify_checksum", true, "verify the checksum of each block read");
  }

  RocksJavaOptions(Options options) throws Unsupported {
    set(database, options, "max_background_jobs", "paranoid_checks", "bytes_per_sync");
    database.setProperty("create_if_missing", "true");
    database.setProperty("max_open_files", options.text("open_files"));
    set(family, options, "write_buffer_size", "target_file_size_base", "max_bytes_for_level_base",
        "level_compaction_dynamic_level_bytes");
    int priority = options.integer("compaction_pri");
    if (priority >= PRIORITIES.size()) throw new Unsupported("--compaction_pri: expected 0 to 4");
    family.setProperty("compaction_pri", PRIORITIES.get(priority));
    boolean compresses = options.compression();
    family.setProperty("compression", codec(options, "compression_type", compresses, "none"));
    family.setProperty("bottommost_compression",
        codec(options, "bottommost_compression_type", compresses, "disable"));
    set(table, options, "block_size", "format_version", "cache_index_and_filter_blocks",
        "pin_l0_filter_and_index_blocks_in_cache");
    String bits = options.text("bloom_bits");
    if (!bits.startsWith("-")) table.setProperty("filter_policy", "bloomfilter:" + bits + ":false");
    String text = "block_cache=" + options.cacheSize();
    for (String name : table.stringPropertyNames()) text += ";" + name + "=" + table.get(name);
    family.setProperty("block_based_table_factory", "{" + text + "}");
  }

  RocksDB open(Path path) throws RocksDBException, Unsupported {
    var options = accepted(DBOptions.getDBOptionsFromProps(database), database);
    var ofFamily = accepted(ColumnFamilyOptions.getColumnFamilyOptionsFromProps(family), family);
    var families = List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, ofFamily));
    return RocksDB.open(options, path.toString(), families, new ArrayList<>());
  }

  private static <T> T accepted(T options, Properties from) throws Unsupported {
    if (options == null) throw new Unsupported("RocksDB does not accept " + from);
    return options;
  }

  /** Returns the options that RocksDB has recorded as those in force; all must be as requested. */
  Map<String, String> readBack(Path path) throws IOException {
    Path latest;
    try (var files = Files.list(path)) {
      latest = files.filter(f -> f.getFileName().toString().startsWith("OPTIONS-"))
              .max(Path::compareTo).orElseThrow();
    }
    Map<String, String> found = new TreeMap<>();
    for (String line : Files.readAllLines(latest)) {
      String[] words = line.strip().split("=", 2);
      if (words.length == 2) found.put(words[0], words[1]);
    }
    Map<String, String> settings = new TreeMap<>();
    for (Properties part : List.of(database, family, table)) {
      for (String name : part.stringPropertyNames()) {
        String value = found.get(name);
        if (!part.getProperty(name).equals(value) && !name.equals("block_based_table_factory")) {
          throw new IllegalStateException(
              name + " is " + value + ", not " + part.get(name) + " as requested");
        }
        settings.put(name, value);
      }
    }
    return settings;
  }

  private static void set(Properties to, Options options, String... flags) {
    for (String flag : flags) to.setProperty(flag, options.text(flag));
  }

  private static String codec(Options options, String flag, boolean compresses, String plain)
      throws Unsupported {
    String codec = CODECS.get(compresses ? options.text(flag) : plain);
    if (codec == null) throw new Unsupported("--" + flag + ": expected none, snappy, lz4 or zstd");
    return codec;
  }
}
