// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.config.Config;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.counters.file.Counter;
import io.talaria.nio.counters.file.ProcessCounter;
import io.talaria.nio.counters.file.SelectorCounter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.ObjectName;
import javax.management.openmbean.TabularData;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Timespan;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The documents hold every property, every reason and every constant of a layout, with what the
 * code says of them, and nothing of that kind that the code does not have.
 */
@Timeout(60)
class DocumentationTest {
  private static final Path ROOT = root();
  private static final int FIRST_SCREEN = 60;
  private static final List<String> OF_ALL_EVENTS =
      List.of("startTime", "duration", "eventThread", "stackTrace");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern LINK = Pattern.compile("]\\(([^)#]+)(#[^)]*)?\\)");

  private static Path root() {
    Path here = Path.of("").toAbsolutePath();
    while (here != null && !Files.exists(here.resolve("docs").resolve("reasons.md"))) {
      here = here.getParent();
    }
    return here;
  }

  @Test
  void everyPropertyIsDocumentedWithItsDefault() throws IOException {
    List<List<String>> rows =
        rowsUnder(lines("docs/configuration.md"), "## Properties", "property");
    String uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid").toString();
    List<String> names = new ArrayList<>();
    for (String setting : Config.load().toString().split(" ")) {
      String name = setting.substring(0, setting.indexOf('='));
      String standard =
          setting.substring(name.length() + 1).replace("talaria-" + uid, "talaria-UID");
      names.add(name);
      assertThat(rows)
          .as("the row of " + name)
          .anySatisfy(
              row -> {
                assertThat(row.get(0)).isEqualTo("`" + name + "`");
                if (System.getProperty(name) == null) {
                  assertThat(row.get(1)).isEqualTo("`" + standard + "`");
                }
                assertThat(row.get(2)).as("unit and range").isNotEmpty();
                assertThat(row.get(3)).as("effect").isNotEmpty();
              });
    }
    assertThat(names).as("what Config prints").containsExactlyInAnyOrderElementsOf(properties());
    assertThat(rows).as("no row for what does not exist").hasSameSizeAs(names);
  }

  private static List<String> properties() {
    return Arrays.stream(Config.class.getFields())
        .filter(field -> field.getType() == String.class)
        .map(field -> (String) value(field))
        .filter(name -> name.startsWith("talaria."))
        .toList();
  }

  @Test
  void theContractSuiteIsAsLargeAsTheDocumentsSay() throws IOException {
    int behaviours = 0;
    Path suite = ROOT.resolve("core/nio/src/test/java/io/talaria/nio/contract");
    try (Stream<Path> files = Files.list(suite)) {
      for (Path file : files.filter(f -> f.toString().endsWith("ContractTest.java")).toList()) {
        behaviours += Files.readString(file).split("@Test\\b", -1).length - 1;
      }
    }
    Pattern claim = Pattern.compile("more than ([0-9]+)\\s+behaviours");
    for (String name : List.of("README.md", "CONTRIBUTING.md")) {
      Matcher claimed = claim.matcher(Files.readString(ROOT.resolve(name)));
      assertThat(claimed.find()).as(name).isTrue();
      assertThat(behaviours).as(name).isGreaterThan(Integer.parseInt(claimed.group(1)));
    }
  }

  /** What it is, where it runs, how to get it, four commands, figures with a range, who gains. */
  @Test
  void theFirstScreenOfTheReadmeSaysWhatAVisitorAsks() throws IOException {
    List<String> screen = lines("README.md").subList(0, FIRST_SCREEN);
    assertThat(String.join("\n", screen))
        .contains("**Talaria is ", "Linux with Java 17", "clone this repository")
        .contains("./talaria package", "mvn install -DskipTests")
        .contains("./talaria demo ", "java -javaagent:", "./talaria ss ", "./talaria doctor ")
        .contains("gain nothing", "`EpollEventLoopGroup`", "`java.net.Socket`");
    assertThat(screen)
        .as("a ratio with the range of its runs")
        .anyMatch(line -> line.matches("\\|.*round trip.*\\| \\d+ \\| \\d+ to \\d+ \\|"));
  }

  @Test
  void installingTheLibrariesRunsNoTests() throws IOException {
    for (Path document : documents()) {
      assertThat(Files.readAllLines(document))
          .as("%s", document)
          .filteredOn(line -> line.contains("mvn install"))
          .allSatisfy(line -> assertThat(line).contains("mvn install -DskipTests"));
    }
  }

  @Test
  void everyMethodOfChannelsAndSelectorsHasItsSystemCalls() throws IOException {
    Set<String> named = new TreeSet<>();
    for (List<String> row :
        rowsUnder(lines("docs/architecture.md"), "## System calls, and when", "operation")) {
      Matcher code = CODE.matcher(row.get(0));
      while (code.find()) {
        named.add(code.group(1));
      }
    }
    for (Class<?> type :
        List.of(
            SelectableChannel.class,
            SocketChannel.class,
            ServerSocketChannel.class,
            Selector.class,
            SelectionKey.class)) {
      for (Method method : type.getDeclaredMethods()) {
        if (Modifier.isPublic(method.getModifiers()) && !method.isBridge()) {
          assertThat(named).as(type.getSimpleName()).contains(method.getName());
        }
      }
    }
  }

  @Test
  void reasonsHaveTheirRowWordForWord() throws IOException {
    List<List<String>> expected =
        Arrays.stream(Reason.values())
            .map(
                reason ->
                    List.of(
                        "`" + reason.code() + "`",
                        Integer.toString(reason.number()),
                        reason.sentence(),
                        reason.hint()))
            .toList();
    assertThat(rowsUnder(lines("docs/reasons.md"), "## The catalogue", "code"))
        .containsExactlyElementsOf(expected);
  }

  @Test
  void flightRecorderEventsHaveEveryFieldWithItsUnit() throws Exception {
    Map<String, String> expected = new TreeMap<>();
    for (String event : List.of("ConnectionDecided", "ConnectionClosed")) {
      EventType type =
          EventType.getEventType(
              Class.forName("io.talaria.nio.counters." + event + "Event").asSubclass(Event.class));
      assertThat(type.getName()).isEqualTo("io.talaria." + event);
      for (ValueDescriptor field : type.getFields()) {
        if (!OF_ALL_EVENTS.contains(field.getName())) {
          expected.merge(
              field.getName() + ", " + unit(field), "`" + event + "`", (one, other) -> "both");
        }
      }
    }
    List<String> lines = lines("docs/seeing.md");
    Map<String, String> documented = new TreeMap<>();
    for (List<String> row : rowsUnder(lines, "## Flight Recorder", "field")) {
      documented.put(row.get(0).replace("`", "") + ", " + row.get(1), row.get(2));
    }
    assertThat(documented).isEqualTo(expected);
    assertThat(names(lines, "## Flight Recorder", "event"))
        .containsExactly("io.talaria.ConnectionDecided", "io.talaria.ConnectionClosed");
  }

  private static String unit(ValueDescriptor field) {
    Timespan timespan = field.getAnnotation(Timespan.class);
    if (timespan != null) {
      return timespan.value().toLowerCase(Locale.ROOT);
    }
    if (field.getAnnotation(DataAmount.class) != null) {
      return "bytes";
    }
    return field.getTypeName().equals("long") ? "number" : "text";
  }

  @Test
  void theBeanHasEveryAttributeWithItsType() throws Exception {
    List<String> lines = lines("docs/seeing.md");
    List<String> expected =
        Arrays.stream(TalariaMXBean.class.getMethods())
            .map(
                getter ->
                    getter.getName().substring("get".length())
                        + " "
                        + getter.getGenericReturnType().getTypeName().replaceAll("[a-z]+\\.", ""))
            .toList();
    assertThat(rowsUnder(lines, "## JMX", "attribute"))
        .extracting(row -> (row.get(0) + " " + row.get(1)).replace("`", ""))
        .containsExactlyInAnyOrderElementsOf(expected);
    assertThat(names(lines, "### A connection in JMX", "item"))
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(ConnectionView.class.getMethods())
                .filter(method -> method.getDeclaringClass() == ConnectionView.class)
                .map(getter -> getter.getName().substring("get".length()))
                .map(name -> name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1))
                .toList());
  }

  @Test
  void theBeanHasTheTotalsThatArePromised() throws Exception {
    ProcessCounters before = ProcessCounters.current();
    ProcessCounters.onHeap("a test").makeCurrent();
    try {
      assertThat(TalariaManagement.register()).isTrue();
      TabularData totals =
          (TabularData)
              ManagementFactory.getPlatformMBeanServer()
                  .getAttribute(new ObjectName(TalariaManagement.OBJECT_NAME), "Totals");
      List<String> names = new ArrayList<>(names(lines("docs/seeing.md"), "### Totals", "name"));
      names.remove("refused");
      assertThat(totals.keySet())
          .extracting(key -> (String) ((List<?>) key).get(0))
          .containsExactlyInAnyOrderElementsOf(names);
    } finally {
      if (before != null) {
        before.makeCurrent();
      }
    }
  }

  private static List<String> names(List<String> lines, String heading, String title) {
    return rowsUnder(lines, heading, title).stream()
        .map(row -> row.get(0).replace("`", ""))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "negotiation.Wire",
        "authentication.KeyProof",
        "authentication.Handshake",
        "authentication.Seal",
        "shm.ShmMessages",
        "shm.ConnectionLayout",
        "shm.SlabLayout",
        "shm.PeerLayout",
        "counters.file.CountersLayout"
      })
  void layoutsHaveEveryConstantWithItsValue(String name) throws Exception {
    Class<?> layout = Class.forName("io.talaria.nio." + name);
    Set<String> expected = new TreeSet<>();
    for (Field field : layout.getDeclaredFields()) {
      if (isNumber(field) && !Modifier.isPrivate(field.getModifiers())) {
        expected.add(field.getName() + " = " + ((Number) value(field)).longValue());
      }
    }
    Set<String> documented = new TreeSet<>();
    for (List<String> row :
        rowsUnder(lines("docs/layouts.md"), "### `" + layout.getSimpleName() + "`", "constant")) {
      Matcher constant = CODE.matcher(row.get(0));
      if (constant.matches()) {
        documented.add(constant.group(1) + " = " + Long.decode(row.get(1)));
      }
    }
    assertThat(documented).isEqualTo(expected);
  }

  @Test
  void layoutsHaveEveryCounterWithItsPlace() throws Exception {
    assertDocumented("Counter", Counter.values(), Counter::place);
    assertDocumented("ProcessCounter", ProcessCounter.values(), ProcessCounter::place);
    assertDocumented("SelectorCounter", SelectorCounter.values(), SelectorCounter::place);
  }

  private static <C extends Enum<C>> void assertDocumented(
      String name, C[] counters, ToIntFunction<C> place) throws IOException {
    List<String> expected = new ArrayList<>();
    for (C counter : counters) {
      expected.add(counter.name() + " = " + place.applyAsInt(counter));
    }
    List<String> documented = new ArrayList<>();
    for (List<String> row : rowsUnder(lines("docs/layouts.md"), "### `" + name + "`", "constant")) {
      documented.add(row.get(0).replace("`", "") + " = " + row.get(1));
    }
    assertThat(documented).isEqualTo(expected);
  }

  private static boolean isNumber(Field field) {
    Class<?> type = field.getType();
    return Modifier.isStatic(field.getModifiers())
        && (type == int.class || type == long.class || type == byte.class);
  }

  private static Object value(Field field) {
    try {
      field.setAccessible(true);
      return field.get(null);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void linksLeadToFilesAndHeadings() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path document : documents()) {
      Matcher link = LINK.matcher(Files.readString(document));
      while (link.find()) {
        Path target = document.resolveSibling(link.group(1)).normalize();
        if (!link.group(1).contains("://") && !leadsTo(target, link.group(2))) {
          broken.add(ROOT.relativize(document) + ": " + link.group());
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  private static List<Path> documents() throws IOException {
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(top, docs).filter(file -> file.toString().endsWith(".md")).toList();
    }
  }

  private static boolean leadsTo(Path target, String anchor) {
    if (anchor == null || !Files.isRegularFile(target)) {
      return Files.exists(target);
    }
    try (Stream<String> lines = Files.lines(target)) {
      return lines
          .filter(line -> line.startsWith("#"))
          .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
          .map(line -> "#" + line.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
          .anyMatch(anchor::equals);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> lines(String document) throws IOException {
    return Files.readAllLines(ROOT.resolve(document));
  }

  /** The rows of the first table below a heading whose first column has the title given. */
  private static List<List<String>> rowsUnder(List<String> lines, String heading, String title) {
    int from = lines.indexOf(heading);
    assertThat(from).as("line of the heading " + heading).isNotNegative();
    while (!lines.get(from).startsWith("| " + title + " |")) {
      from++;
    }
    List<List<String>> rows = new ArrayList<>();
    for (int i = from + 2; i < lines.size() && lines.get(i).startsWith("|"); i++) {
      String line = lines.get(i);
      rows.add(
          Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
              .map(String::trim)
              .toList());
    }
    return rows;
  }
}
