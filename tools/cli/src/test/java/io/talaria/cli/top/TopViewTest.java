// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.harness.Terminal;
import io.talaria.cli.ports.LocalSource;
import io.talaria.cli.ports.PortFilter;
import io.talaria.cli.ports.PortLine;
import io.talaria.cli.ports.Tree;
import io.talaria.cli.screen.Key;
import io.talaria.monitor.PortId;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What top draws of what it knows and of the keys that were pressed. */
@Timeout(60)
class TopViewTest {
  private static final Terminal.Size SIZE = new Terminal.Size(24, 100);

  @TempDir Path dir;
  private Tree tree;
  private LocalSource source;
  private final TopState state = new TopState(TopState.Page.PORTS, 1);
  private final Base base = new Base();
  private final Map<PortId, History> histories = new HashMap<>();
  private TopView view = new TopView(state, true, true);
  private List<PortLine> ports;

  @BeforeEach
  void look() {
    tree = Tree.in(dir);
    source = new LocalSource(dir, new PortFilter(List.of(), false));
    ports = source.look().lines();
  }

  @AfterEach
  void close() {
    source.close();
  }

  private TopView.Data data() {
    return new TopView.Data(
        ports,
        List.of(),
        "no port of this host is InfiniBand's",
        List.of("1 process, 0 listeners"),
        histories,
        base,
        "",
        "12:00:00",
        0);
  }

  private String drawn(Terminal.Size size) {
    return view.draw(data(), size).stream()
        .map(AttributedString::toString)
        .collect(Collectors.joining("\n"));
  }

  private TopState.Wish press(Key key) {
    return state.press(key, view.rows(data()), TopView.tableRows(SIZE));
  }

  private void type(String characters) {
    characters.chars().forEach(c -> press(Key.of((char) c)));
  }

  @Test
  void portsStandInATableUnderAHeadWithThePages() {
    List<String> lines = drawn(SIZE).lines().toList();
    assertThat(lines).hasSize(24);
    assertThat(lines.get(0))
        .startsWith("talaria top  12:00:00  1 ports  2 side by side  3 fabric  4 connections");
    assertThat(lines.get(4)).startsWith("  mlx5_0/1");
    assertThat(lines.get(23)).startsWith("q leave  h help");
  }

  @Test
  void theCursorMovesAndSpaceChooses() {
    press(Key.of(Key.Name.DOWN));
    type(" ");
    assertThat(drawn(SIZE).lines().toList().get(5)).startsWith("* mlx5_1/1");
    assertThat(state.cursor()).isEqualTo(1);
    type(" ");
    assertThat(state.chosen()).isEmpty();
    press(Key.of(Key.Name.END));
    press(Key.of(Key.Name.DOWN));
    assertThat(state.cursor()).isEqualTo(2);
    press(Key.of(Key.Name.PAGE_UP));
    assertThat(state.cursor()).isZero();
  }

  @Test
  void aPortWithErrorsIsRedAndWithoutColoursBold() {
    AttributedString row = view.draw(data(), SIZE).get(5 - 1);
    assertThat(row.styleAt(3))
        .isEqualTo(AttributedStyle.DEFAULT.foreground(AttributedStyle.RED).inverse());
    view = new TopView(state, false, true);
    assertThat(view.draw(data(), SIZE).get(4).styleAt(3)).isEqualTo(AttributedStyle.BOLD.inverse());
  }

  @Test
  void thoseChosenStandSideBySideWithRatesShareAndErrors() {
    press(Key.of(Key.Name.ENTER));
    tree.write("class/infiniband/mlx5_0/ports/1/counters/link_downed", "5");
    ports = source.look().lines();
    String text = drawn(SIZE);
    assertThat(state.page()).isEqualTo(TopState.Page.SIDE);
    assertThat(text)
        .contains(
            "mlx5_0/1", "active  100 Gb/s 4X EDR", "0.0 %", "packets/s", "stuck: symbol_error")
        .contains("symbol_error 65.5 k stuck", "link_downed 5 +3")
        .doesNotContain("mlx5_1");
    AttributedString errors =
        view.draw(data(), SIZE).stream()
            .filter(line -> line.toString().startsWith("link_downed"))
            .findFirst()
            .orElseThrow();
    assertThat(errors.styleAt(15))
        .isEqualTo(AttributedStyle.DEFAULT.foreground(AttributedStyle.RED).inverse());
  }

  @Test
  void errorsAreCountedFromTheBaseThatIsSet() {
    base.set(ports);
    assertThat(base.errors(ports.get(0))).isEmpty();
    tree.write("class/infiniband/mlx5_0/ports/1/counters/link_downed", "5");
    ports = source.look().lines();
    assertThat(base.errors(ports.get(0))).extracting(Base.Errors::amount).containsExactly(3.0);
    tree.write("class/infiniband/mlx5_0/ports/1/counters/link_downed", "1"); // somebody reset it
    ports = source.look().lines();
    assertThat(base.errors(ports.get(0))).extracting(Base.Errors::amount).containsExactly(1.0);
  }

  @Test
  void fourAtMostAreChosenAndANarrowScreenShowsFewer() {
    type(" ");
    press(Key.of(Key.Name.DOWN));
    type(" ");
    press(Key.of(Key.Name.DOWN));
    press(Key.of(Key.Name.ENTER));
    assertThat(drawn(SIZE).lines().toList().get(2)).contains("mlx5_0/1", "mlx5_1/1", "ens1f0");
    String narrow = drawn(new Terminal.Size(24, 50));
    assertThat(narrow).contains("mlx5_0/1", "1 more need a wider terminal");
    assertThat(narrow.lines().toList().get(2)).doesNotContain("ens1f0");
    assertThat(TopState.MAX_CHOSEN).isEqualTo(4);
  }

  @Test
  void keysChangeOrderUnitsIntervalAndPages() {
    type("su");
    assertThat(drawn(SIZE)).contains("by in");
    assertThat(state.bits()).isTrue();
    assertThat(press(Key.of('+'))).isEqualTo(TopState.Wish.INTERVAL);
    assertThat(state.seconds()).isEqualTo(2);
    type("-----");
    assertThat(state.seconds()).isEqualTo(0.2);
    type("++++++++");
    assertThat(state.seconds()).isEqualTo(10);
    type("p");
    assertThat(drawn(SIZE)).contains("paused");
    assertThat(press(Key.of('r'))).isEqualTo(TopState.Wish.RESCAN);
    assertThat(press(Key.of('z'))).isEqualTo(TopState.Wish.SET_BASE);
    type("3");
    assertThat(drawn(SIZE)).contains("no port of this host is InfiniBand's");
    type("4");
    assertThat(drawn(SIZE)).contains("1 process, 0 listeners");
    assertThat(press(Key.of(Key.Name.ESCAPE))).isEqualTo(TopState.Wish.NOTHING);
    assertThat(state.page()).isEqualTo(TopState.Page.PORTS);
    assertThat(press(Key.of('q'))).isEqualTo(TopState.Wish.LEAVE);
  }

  @Test
  void onlyPortsWithErrorsCanBeShown() {
    type("e");
    assertThat(view.rows(data()))
        .extracting(line -> line.port().id().device())
        .containsExactly("mlx5_0");
    base.set(ports);
    assertThat(drawn(SIZE)).contains("no port has errors; e shows all");
  }

  @Test
  void anyKeyEndsTheHelp() {
    type("h");
    assertThat(drawn(SIZE)).contains("count errors from now on");
    type("s");
    assertThat(drawn(SIZE)).doesNotContain("count errors from now on").contains("by name");
  }

  @Test
  void aScreenThatIsTooSmallSaysSo() {
    assertThat(drawn(new Terminal.Size(9, 100)))
        .isEqualTo("talaria top: 40x10 at least; here 100x9");
    assertThat(drawn(new Terminal.Size(24, 39))).startsWith("talaria top: 40x10 at least");
    assertThat(drawn(new Terminal.Size(10, 40)).lines()).hasSizeLessThanOrEqualTo(10);
  }

  @Test
  void noLineIsLeftBehindByTheSmallestScreenAndAllPages() {
    for (char page : new char[] {'1', '2', '3', '4'}) {
      type(Character.toString(page));
      for (int rows = 10; rows < 60; rows += 7) {
        assertThat(view.draw(data(), new Terminal.Size(rows, 40))).hasSize(rows);
      }
    }
  }

  @Test
  void sparklinesShowTheHighestSampleHighest() {
    double[] samples = {-1, 0, 1, 50, 100};
    assertThat(Sparkline.of(samples, 60, true)).isEqualTo(" ▁▂▅█");
    assertThat(Sparkline.of(samples, 60, false)).isEqualTo(" _.+#");
    assertThat(Sparkline.of(samples, 2, true)).isEqualTo("▅█");
    assertThat(Sparkline.of(new double[] {0, 0}, 9, true)).isEqualTo("▁▁");
    assertThat(Sparkline.of(samples, 0, true)).isEmpty();
  }
}
