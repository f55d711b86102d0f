package kvmatrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Writes the C++ source that a plug-in is compiled with: the definition of kEngine. */
final class Describe {
  private Describe() {}

  /**
   * Runs while a plug-in is built.
   *
   * @param words the file to write, the name of the plug-in, the class of the engine, its origin,
   *     its version, the class path, the folder of its native library or "", and for each jar its
   *     SHA-256 and its path
   */
  public static void main(String[] words) throws Exception {
    Path file = Path.of(words[0]);
    List<String> jars = new ArrayList<>();
    for (int i = 7; i + 1 < words.length; i += 2) jars.add(jar(words[i], Path.of(words[i + 1])));
    Description engine = Description.of(Class.forName(words[2]));
    engine.flag("heap_size", 512L << 20, "bytes of the virtual machine's heap");
    Files.writeString(file, source(engine, words, jars));
  }

  private static String jar(String sha256, Path path) throws IOException {
    String line = Jars.state(path) + " " + sha256 + " " + path;
    Jars.check(new String[] {"0 0 " + sha256 + " " + path});
    return line;
  }

  private static String source(Description engine, String[] words, List<String> jars) {
    String flags =
        engine.flags.stream()
            .map(f -> group(quote(f.name()), quote(f.type()), quote(f.initial()), quote(f.help())))
            .collect(Collectors.joining(",\n    "));
    String sha256 = jars.isEmpty() ? "" : jars.get(0).split(" ")[2];
    return String.join(
        "\n",
        "// Written by kvmatrix.Describe.",
        "",
        "#include \"drivers/java/engine_facts.h\"",
        "",
        "namespace kvmatrix {",
        "",
        "static const kvm_flag kFlags[] = {\n    " + flags + "};",
        "static const char* const kJars[] = {"
            + jars.stream().map(jar -> quote(jar) + ", ").collect(Collectors.joining())
            + "nullptr};",
        "",
        "const EngineFacts kEngine = {",
        "    .name = " + quote(words[1]) + ",",
        "    .licence = " + quote(engine.licence) + ",",
        "    .codec = " + quote(engine.codec) + ",",
        "    .origin = " + quote(words[3]) + ",",
        "    .origin_sha256 = " + quote(sha256) + ",",
        "    .version = " + quote(words[4]) + ",",
        "    .scans = " + engine.scans.ordinal() + ",",
        "    .stores = " + engine.stores + ",",
        "    .flags = kFlags,",
        "    .flag_count = " + engine.flags.size() + ",",
        "    .guarantees = " + guarantees(engine) + ",",
        "    .most_updates = " + engine.mostUpdates + ",",
        "    .class_name = " + quote(words[2]) + ",",
        "    .class_path = " + quote(words[5]) + ",",
        "    .library_path = " + quote(words[6]) + ",",
        "    .jars = kJars};",
        "",
        "}  // namespace kvmatrix",
        "");
  }

  private static String guarantees(Description engine) {
    return Arrays.stream(Durability.values())
        .map(engine.guarantees::get)
        .map(g -> g == null ? new Description.Guarantee(Promise.NOT_OFFERED, "") : g)
        .map(g -> group("KVM_" + g.promise(), quote(g.source())))
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static String group(String... parts) {
    return "{" + String.join(", ", parts) + "}";
  }

  private static String quote(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }
}
