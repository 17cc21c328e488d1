// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import io.talaria.cli.harness.Terminal;
import io.talaria.cli.ports.Figures;
import io.talaria.cli.ports.PortLine;
import io.talaria.cli.ports.PortTable;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Traffic;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Draws a screen of what is known; changes nothing. */
final class TopView {
  /** Less than this shows one sentence. */
  static final int MIN_ROWS = 10;

  static final int MIN_COLUMNS = 40;
  private static final int MIN_PANEL = 24;

  /** What stands above the rows of a table: headings and a rule. */
  private static final int ABOVE_ROWS = 2;

  /** Head, a blank line, and the line of keys. */
  private static final int AROUND = 3;

  private static final int MARK_COLUMNS = 2;
  private static final int BITS_PER_BYTE = 8;

  private final TopState state;
  private final boolean colored;
  private final boolean unicode;

  /**
   * All that is shown.
   *
   * @param local ports of this host
   * @param fabric ports of the fabric
   * @param fabricNote why there are none; else what is said of them
   * @param connections what {@code ss} shows, as much as fits
   * @param histories the last rates of ports
   * @param base what errors are counted from
   * @param baseText when that was, or empty
   * @param clock the time of day
   * @param skipped how many looks were late and left out
   */
  record Data(
      List<PortLine> local,
      List<PortLine> fabric,
      String fabricNote,
      List<String> connections,
      Map<PortId, History> histories,
      Base base,
      String baseText,
      String clock,
      long skipped) {}

  TopView(TopState state, boolean colored, boolean unicode) {
    this.state = state;
    this.colored = colored;
    this.unicode = unicode;
  }

  /** How many rows of a table a screen holds. */
  static int tableRows(Terminal.Size size) {
    return Math.max(1, size.rows() - AROUND - ABOVE_ROWS);
  }

  /** How much of a screen is for what is between head and keys. */
  static Terminal.Size body(Terminal.Size size) {
    return new Terminal.Size(Math.max(1, size.rows() - AROUND), size.columns());
  }

  /** The ports of the page, sorted and reduced as the user wants. */
  List<PortLine> rows(Data data) {
    List<PortLine> all =
        switch (state.page()) {
          case PORTS -> data.local();
          case FABRIC -> data.fabric();
          case SIDE, CONNECTIONS -> List.of();
        };
    List<PortLine> wanted =
        state.errorsOnly()
            ? all.stream().filter(line -> !data.base().errors(line).isEmpty()).toList()
            : all;
    return state.sort().sorted(wanted);
  }

  /** The first row that is shown, so that the cursor is seen. */
  int firstRow(List<PortLine> rows, Terminal.Size size) {
    int room = tableRows(size);
    return Math.max(0, Math.min(state.cursor() - room + 1, rows.size() - room));
  }

  /** The whole screen. */
  List<AttributedString> draw(Data data, Terminal.Size size) {
    if (size.rows() < MIN_ROWS || size.columns() < MIN_COLUMNS) {
      return List.of(
          plain(
              "talaria top: "
                  + MIN_COLUMNS
                  + "x"
                  + MIN_ROWS
                  + " at least; here "
                  + size.columns()
                  + "x"
                  + size.rows()));
    }
    List<AttributedString> lines = new ArrayList<>();
    lines.add(head(data));
    lines.add(AttributedString.EMPTY);
    if (state.help()) {
      help(lines);
    } else {
      switch (state.page()) {
        case PORTS -> table(lines, data, size, "no port is found; --all shows loopback, too");
        case FABRIC -> table(lines, data, size, data.fabricNote());
        case SIDE -> panels(lines, data, size);
        case CONNECTIONS -> data.connections().forEach(line -> lines.add(plain(line)));
      }
    }
    while (lines.size() < size.rows() - 1) {
      lines.add(AttributedString.EMPTY);
    }
    List<AttributedString> screen = new ArrayList<>(lines.subList(0, size.rows() - 1));
    screen.add(keys());
    return screen;
  }

  private AttributedString head(Data data) {
    AttributedStringBuilder head = new AttributedStringBuilder();
    head.styled(AttributedStyle.BOLD, "talaria top");
    head.append("  ").append(data.clock()).append("  ");
    for (TopState.Page page : TopState.Page.values()) {
      String text = page.key() + " " + page.title();
      head.styled(page == state.page() ? AttributedStyle.INVERSE : AttributedStyle.DEFAULT, text);
      head.append("  ");
    }
    head.append("every ").append(figure(state.seconds())).append(" s");
    if (state.page() == TopState.Page.PORTS || state.page() == TopState.Page.FABRIC) {
      head.append(", by ").append(state.sort().title());
    }
    if (state.errorsOnly()) {
      head.append(", errors only");
    }
    if (state.paused()) {
      head.append(", ").styled(AttributedStyle.INVERSE, "paused");
    }
    if (data.skipped() > 0) {
      head.append(", " + data.skipped() + " late");
    }
    return head.toAttributedString();
  }

  private static String figure(double seconds) {
    return seconds == Math.rint(seconds) ? Long.toString((long) seconds) : "" + seconds;
  }

  private static AttributedString keys() {
    return new AttributedString(
        "q leave  h help  arrows move  space choose  enter side by side  s sort  u bits  p pause",
        AttributedStyle.DEFAULT.faint());
  }

  private static void help(List<AttributedString> lines) {
    for (String line :
        new String[] {
          "1 2 3 4        ports, side by side, fabric, connections",
          "arrows, pages  move",
          "space          choose a port, or no longer; up to four",
          "enter          choose it, and show the chosen side by side",
          "s              next order: name, in, out, errors",
          "u              bytes or bits a second",
          "+ -            slower or faster: 0.2 to 10 s",
          "p              pause or resume",
          "z              count errors from now on (nothing is reset)",
          "e              only ports with errors, or all",
          "r              look for new ports, and discover the fabric again",
          "esc            back to the ports",
          "q, Ctrl-C      leave; Ctrl-Z stops until fg",
          "any key        ends this help"
        }) {
      lines.add(plain(line));
    }
  }

  private static AttributedString plain(String text) {
    return new AttributedString(text);
  }

  private void table(List<AttributedString> lines, Data data, Terminal.Size size, String none) {
    List<PortLine> rows = rows(data);
    if (rows.isEmpty()) {
      lines.add(plain(state.errorsOnly() ? "no port has errors; e shows all" : none));
      return;
    }
    int first = firstRow(rows, size);
    List<PortLine> shown = rows.subList(first, Math.min(rows.size(), first + tableRows(size)));
    List<String> text =
        new PortTable(shown, true, state.bits())
            .render(size.columns() - MARK_COLUMNS)
            .lines()
            .toList();
    for (int i = 0; i < text.size(); i++) {
      if (i < ABOVE_ROWS) {
        lines.add(new AttributedString("  " + text.get(i), AttributedStyle.BOLD));
        continue;
      }
      PortLine line = shown.get(i - ABOVE_ROWS);
      boolean under = first + i - ABOVE_ROWS == state.cursor();
      String mark = state.chosen().contains(line.port().id()) ? "* " : "  ";
      AttributedStyle style = AttributedStyle.DEFAULT;
      if (!data.base().errors(line).isEmpty()) {
        style = error();
      }
      lines.add(new AttributedString(mark + text.get(i), under ? style.inverse() : style));
    }
  }

  private AttributedStyle error() {
    return colored ? AttributedStyle.DEFAULT.foreground(AttributedStyle.RED) : AttributedStyle.BOLD;
  }

  /** The chosen ports; the first ones that are active if none is. */
  private List<PortLine> chosen(Data data) {
    List<PortLine> all = new ArrayList<>(data.local());
    all.addAll(data.fabric());
    List<PortLine> chosen = new ArrayList<>();
    for (PortId id : state.chosen()) {
      all.stream().filter(line -> line.port().id().equals(id)).findFirst().ifPresent(chosen::add);
    }
    if (state.chosen().isEmpty()) {
      data.local().stream()
          .filter(line -> line.reading() != null && !line.reading().counters().isEmpty())
          .limit(TopState.MAX_CHOSEN)
          .forEach(chosen::add);
    }
    return chosen;
  }

  private void panels(List<AttributedString> lines, Data data, Terminal.Size size) {
    List<PortLine> chosen = chosen(data);
    if (chosen.isEmpty()) {
      lines.add(plain("no port is chosen that is there: 1 and space choose"));
      return;
    }
    int fit = Math.max(1, Math.min(chosen.size(), size.columns() / MIN_PANEL));
    int width = size.columns() / fit;
    List<List<AttributedString>> panels = new ArrayList<>();
    int height = 0;
    for (PortLine line : chosen.subList(0, fit)) {
      List<AttributedString> panel = panel(line, data, width - 2);
      panels.add(panel);
      height = Math.max(height, panel.size());
    }
    for (int i = 0; i < height; i++) {
      AttributedStringBuilder row = new AttributedStringBuilder();
      for (List<AttributedString> panel : panels) {
        AttributedString part = i < panel.size() ? panel.get(i) : AttributedString.EMPTY;
        if (part.columnLength() > width - 2) {
          part = part.columnSubSequence(0, width - 2);
        }
        row.append(part).append(" ".repeat(width - part.columnLength()));
      }
      lines.add(row.toAttributedString());
    }
    if (fit < chosen.size()) {
      lines.add(plain((chosen.size() - fit) + " more need a wider terminal"));
    }
  }

  private List<AttributedString> panel(PortLine line, Data data, int width) {
    List<AttributedString> panel = new ArrayList<>();
    panel.add(new AttributedString(line.port().id().toString(), AttributedStyle.BOLD));
    String rate = line.port().rate().text();
    panel.add(plain(line.port().state().code() + (rate.isEmpty() ? "" : "  " + rate)));
    History history = data.histories().getOrDefault(line.port().id(), new History());
    direction(panel, line, "in", Traffic.RECEIVED, history.in(), width);
    direction(panel, line, "out", Traffic.SENT, history.out(), width);
    panel.add(AttributedString.EMPTY);
    if (!line.note().isEmpty()) {
      panel.add(plain(line.note()));
    }
    List<Base.Errors> errors = data.base().errors(line);
    if (errors.isEmpty()) {
      panel.add(plain(line.reading() == null ? "" : "no errors" + since(data)));
    } else {
      panel.add(plain("errors" + since(data)));
      for (Base.Errors error : errors) {
        AttributedStringBuilder text = new AttributedStringBuilder();
        text.styled(
            error(),
            error.name() + " " + Figures.count(error.amount()) + (error.stuck() ? " stuck" : ""));
        if (error.more() > 0) {
          text.append(" ");
          text.styled(error().inverse(), "+" + Figures.count(error.more()));
        }
        panel.add(text.toAttributedString());
      }
    }
    return panel;
  }

  private static String since(Data data) {
    return data.baseText().isEmpty() ? "" : " since " + data.baseText();
  }

  private void direction(
      List<AttributedString> panel,
      PortLine line,
      String name,
      Traffic traffic,
      double[] samples,
      int width) {
    double bytes = line.rates() == null ? -1 : line.rates().perSecond(CounterKind.DATA, traffic);
    double packets =
        line.rates() == null ? -1 : line.rates().perSecond(CounterKind.PACKETS, traffic);
    long link = line.port().rate().bitsPerSecond();
    String share =
        link > 0 && bytes >= 0
            ? String.format(Locale.ROOT, "  %.1f %%", 100 * bytes * BITS_PER_BYTE / link)
            : "";
    panel.add(AttributedString.EMPTY);
    panel.add(plain(name + "  " + Figures.rate(bytes, state.bits()) + "/s" + share));
    panel.add(plain(Sparkline.of(samples, Math.min(width, History.SAMPLES), unicode)));
    panel.add(plain(Figures.count(packets) + " packets/s"));
  }
}
