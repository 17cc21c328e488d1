// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Sums up the reports of a run of the tests: the slowest classes, what was left out or skipped and
 * why, what failed or passed in its second run only, whether a class hung, and, in the last line,
 * the counts. Keeps the logs of what failed in {@code dist/test-failures}. {@code ./talaria test}
 * runs it from its source.
 *
 * <p>Usage: {@code java TestReport.java ROOT all|usual [LEFT OUT]...}. Exit status: 0 if tests ran
 * and none failed, 1 if not, 2 for wrong usage. In a run of all tests a flaky one has failed.
 */
final class TestReport {
  private static final int SLOWEST = 20;

  /** Of the file {@code pom.xml} of the deepest module: {@code test/it/kafka/pom.xml}. */
  private static final int MODULE_DEPTH = 4;

  private static final Pattern LONG = Pattern.compile("@Tag\\(\"long\"\\)");
  private static final Pattern ALONE = Pattern.compile("@Tag\\(\"alone\"\\)");

  /** What surefire says after it has killed a JVM that took too long. */
  private static final String KILLED = "There was a timeout in the fork";

  /** One class in one run: the same class may run on another JDK or fabric, too. */
  private record Suite(String run, String name, double seconds) {}

  private final Path root;
  private final boolean all;
  private final List<Suite> suites = new ArrayList<>();
  private final Map<String, Integer> testsOf = new TreeMap<>();
  private final Map<String, Integer> skippedBecause = new TreeMap<>();
  private final List<String> failures = new ArrayList<>();
  private final List<String> flaky = new ArrayList<>();
  private final List<Path> unreadable = new ArrayList<>();
  private final List<String> neverRun = new ArrayList<>();
  private int tests;
  private int skipped;
  private boolean hung;

  private TestReport(Path root, boolean all) {
    this.root = root;
    this.all = all;
  }

  public static void main(String[] args) throws IOException {
    if (args.length < 2 || !List.of("all", "usual").contains(args[1])) {
      System.err.println("usage: java TestReport.java ROOT all|usual [LEFT OUT]...");
      System.exit(2);
    }
    TestReport report = new TestReport(Path.of(args[0]), args[1].equals("all"));
    report.read();
    report.findForgotten();
    report.findHung();
    report.print(List.of(args).subList(2, args.length));
    System.exit(report.good() ? 0 : 1);
  }

  // ---- reading

  private void read() throws IOException {
    for (Path folder : reportFolders()) {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.filter(TestReport::isReport).sorted().toList()) {
          try {
            readSuite(file, run(folder));
          } catch (XMLStreamException e) {
            unreadable.add(root.relativize(file)); // of a JVM that was killed
          }
        }
      }
    }
  }

  private static boolean isReport(Path file) {
    return file.getFileName().toString().matches("TEST-.*\\.xml");
  }

  /** The folders of all runs of all modules, one below another included. */
  private List<Path> reportFolders() throws IOException {
    List<Path> folders = new ArrayList<>();
    for (Path module : modules()) {
      Path target = module.resolve("target");
      if (Files.isDirectory(target)) {
        try (Stream<Path> below = Files.list(target)) {
          below
              .filter(each -> each.getFileName().toString().startsWith("surefire-reports"))
              .filter(Files::isDirectory)
              .sorted()
              .forEach(folders::add);
        }
      }
    }
    return folders;
  }

  /** The folders of all modules, and the root. */
  private List<Path> modules() throws IOException {
    try (Stream<Path> poms =
        Files.find(root, MODULE_DEPTH, (file, a) -> file.endsWith("pom.xml"))) {
      return poms.sorted().map(Path::getParent).toList();
    }
  }

  /** The module, and what is special about the run: {@code nio java17}. */
  private String run(Path folder) {
    String module = folder.getParent().getParent().getFileName().toString();
    String name = folder.getFileName().toString();
    return module + name.replaceFirst("surefire-reports", "").replace('-', ' ');
  }

  private void readSuite(Path file, String run) throws IOException, XMLStreamException {
    XMLInputFactory factory = XMLInputFactory.newFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    try (InputStream in = Files.newInputStream(file)) {
      XMLStreamReader xml = factory.createXMLStreamReader(in);
      String test = null;
      boolean failed = false;
      while (xml.hasNext()) {
        int event = xml.next();
        if (event == XMLStreamConstants.START_ELEMENT) {
          switch (xml.getLocalName()) {
            case "testsuite" -> {
              String seconds = xml.getAttributeValue(null, "time").replace(",", "");
              String name = xml.getAttributeValue(null, "name");
              suites.add(new Suite(run, name, Double.parseDouble(seconds)));
            }
            case "testcase" -> {
              tests++;
              testsOf.merge(run, 1, Integer::sum);
              failed = false;
              test =
                  run
                      + " "
                      + xml.getAttributeValue(null, "classname")
                      + "."
                      + xml.getAttributeValue(null, "name");
            }
            case "failure", "error" -> {
              if (!failed) {
                failed = true;
                failures.add(test + firstLine(xml.getAttributeValue(null, "message")));
                keep(file);
              }
            }
            case "flakyFailure", "flakyError" -> {
              if (flaky.isEmpty() || !flaky.get(flaky.size() - 1).startsWith(test)) {
                flaky.add(test + firstLine(xml.getAttributeValue(null, "message")));
                keep(file);
              }
            }
            case "skipped" -> {
              skipped++;
              String why = xml.getAttributeValue(null, "message");
              if (why == null || why.isBlank()) {
                why = xml.getElementText().lines().findFirst().orElse("");
              }
              why = why.replaceFirst("^[\\w.]*TestAbortedException: (Assumption failed: )?", "");
              skippedBecause.merge(
                  why.isBlank() ? "no reason given" : why.strip(), 1, Integer::sum);
            }
            default -> {}
          }
        }
      }
    }
  }

  private static String firstLine(String message) {
    return message == null || message.isBlank()
        ? ""
        : ": " + message.lines().filter(line -> !line.isBlank()).findFirst().orElse("").strip();
  }

  // ---- keeping

  private Path kept() {
    return root.resolve("dist").resolve("test-failures");
  }

  /** Copies what a class reported and printed; thread dumps of who missed a deadline are there. */
  private void keep(Path report) throws IOException {
    String name = report.getFileName().toString().replaceAll("^TEST-|\\.xml$", "");
    Path folder = kept().resolve(root.relativize(report.getParent()));
    Files.createDirectories(folder);
    for (String each : List.of("TEST-" + name + ".xml", name + ".txt", name + "-output.txt")) {
      copy(report.resolveSibling(each), folder.resolve(each));
    }
  }

  /** Copies what JVMs left that died or hung, and the log of the build. */
  private void keepDumps() throws IOException {
    List<Path> dumps = new ArrayList<>();
    for (Path folder : reportFolders()) {
      addDumps(folder, dumps);
      addDumps(folder.getParent().getParent(), dumps);
    }
    addDumps(root, dumps);
    for (Path dump : dumps) {
      Path copy = kept().resolve(root.relativize(dump));
      Files.createDirectories(copy.getParent());
      copy(dump, copy);
    }
    if (Files.isDirectory(kept())) {
      copy(root.resolve("dist/test.log"), kept().resolve("test.log"));
    }
  }

  private static void addDumps(Path folder, List<Path> dumps) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      files
          .filter(
              f -> f.getFileName().toString().matches(".*\\.(dump|dumpstream)|hs_err_pid.*\\.log"))
          .filter(f -> !dumps.contains(f))
          .forEach(dumps::add);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    if (Files.isRegularFile(from)) {
      Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  // ---- printing

  private void print(List<String> leftOut) throws IOException {
    keepDumps();
    printRuns();
    printSlowest();
    printLeftOut(leftOut);
    int sum = skippedBecause.values().stream().mapToInt(n -> n).sum();
    if (sum > 0) {
      System.out.println("Skipped:");
      skippedBecause.forEach((why, n) -> System.out.printf("  %5d  %s%n", n, why));
    }
    if (!flaky.isEmpty()) {
      System.out.println(
          "Flaky, passed in the second run only" + (all ? ", and failed by that:" : ":"));
      flaky.forEach(test -> System.out.println("  " + test));
    }
    if (!failures.isEmpty()) {
      System.out.println("Failed:");
      failures.forEach(test -> System.out.println("  " + test));
    }
    if (!neverRun.isEmpty()) {
      System.out.println("Never run:");
      neverRun.forEach(test -> System.out.println("  " + test));
    }
    if (!unreadable.isEmpty()) {
      System.out.println("Broken off, the report cannot be read:");
      unreadable.forEach(file -> System.out.println("  " + file));
    }
    if (hung) {
      System.out.println("Hung: Maven has killed a JVM; dist/test.log says \"" + KILLED + "\"");
    }
    if (Files.isDirectory(kept())) {
      System.out.println("Logs and thread dumps: " + kept());
    }
    int passed = tests - failures.size() - skipped - (all ? flaky.size() : 0);
    System.out.printf("%d passed, %d failed, %d skipped%n", passed, failed(), skipped);
  }

  private void printRuns() {
    System.out.println("Tests, and their seconds, by module and run:");
    testsOf.forEach(
        (run, n) -> {
          double seconds =
              suites.stream().filter(s -> s.run().equals(run)).mapToDouble(Suite::seconds).sum();
          System.out.printf(Locale.ROOT, "  %6d %6.0f s  %s%n", n, seconds, run);
        });
  }

  private void printSlowest() {
    if (suites.isEmpty()) {
      return;
    }
    System.out.println("Slowest of " + suites.size() + " classes:");
    suites.stream()
        .sorted(Comparator.comparingDouble(Suite::seconds).reversed())
        .limit(SLOWEST)
        .forEach(
            suite ->
                System.out.printf(
                    Locale.ROOT,
                    "  %6.1f s  %-14s %s%n",
                    suite.seconds(),
                    suite.run(),
                    suite.name()));
  }

  private void printLeftOut(List<String> said) throws IOException {
    List<String> lines = new ArrayList<>(said);
    if (!all) {
      for (String tagged : longOnes()) {
        lines.add("tag long: " + tagged);
      }
    }
    if (!lines.isEmpty()) {
      System.out.println("Left out" + (all ? ":" : " (./talaria test --all runs it):"));
      lines.forEach(line -> System.out.println("  " + line));
    }
  }

  /** The test classes that carry the tag long, or have methods that do. */
  private List<String> longOnes() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : testSources()) {
      String source = Files.readString(file);
      long tags = LONG.matcher(source).results().count();
      if (tags > 0) {
        boolean whole = Pattern.compile("(?m)^" + LONG).matcher(source).find();
        String methods = tags == 1 ? "1 test of " : tags + " tests of ";
        found.add(module(file) + " " + (whole ? "" : methods) + name(file));
      }
    }
    return found;
  }

  /** Tests that no run of their module takes: it has none for what runs alone. */
  private void findForgotten() throws IOException {
    for (Path file : testSources()) {
      Path pom = folder(file).resolve("pom.xml");
      if (ALONE.matcher(Files.readString(file)).find()
          && !Files.readString(pom).contains("<id>alone</id>")) {
        neverRun.add(
            module(file) + " " + name(file) + ": tagged alone, but its pom.xml has no such run");
      }
    }
  }

  /**
   * A class that hung has no report, and Maven only logs that it has killed its JVM if it ignores
   * failures, as in a run of all tests.
   */
  private void findHung() throws IOException {
    Path log = root.resolve("dist/test.log");
    if (Files.isRegularFile(log)) {
      // Tests may have printed any bytes.
      try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
        hung = lines.anyMatch(line -> line.contains(KILLED));
      }
      if (hung) {
        Files.createDirectories(kept()); // where the log goes, too
      }
    }
  }

  private List<Path> testSources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (Path module : modules()) {
      Path tests = module.resolve("src/test/java");
      if (Files.isDirectory(tests)) {
        try (Stream<Path> files = Files.walk(tests)) {
          files.filter(f -> f.toString().endsWith(".java")).sorted().forEach(sources::add);
        }
      }
    }
    return sources;
  }

  private static String module(Path source) {
    return folder(source).getFileName().toString();
  }

  /** The folder of the module that has a source file. */
  private static Path folder(Path source) {
    Path folder = source;
    while (!Files.exists(folder.resolve("pom.xml"))) {
      folder = folder.getParent();
    }
    return folder;
  }

  private static String name(Path source) {
    return source.getFileName().toString().replace(".java", "");
  }

  private int failed() {
    return failures.size()
        + neverRun.size()
        + unreadable.size()
        + (hung ? 1 : 0)
        + (all ? flaky.size() : 0);
  }

  private boolean good() {
    return failed() == 0 && tests - skipped > 0;
  }
}
