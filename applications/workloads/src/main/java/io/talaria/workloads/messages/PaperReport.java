// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.report.SizesPicture;
import io.talaria.bench.result.FileFault;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Table;
import io.talaria.workloads.messages.PaperGrid.Cell;
import io.talaria.workloads.messages.PaperGrid.Figure;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.wire.MessagesImplementation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run of {@link PaperGrid} comes to, as text for the user: tables, and pictures.
 *
 * @param grid what was measured
 * @param implementations the implementations that were measured
 * @param found what was found
 */
record PaperReport(PaperGrid grid, List<MessagesImplementation> implementations, Comparison found) {
  /** From the paper; million messages a second, and microseconds. Measured there, not here. */
  private static final String THEIRS =
      """
      The paper's own figures, of another machine (eight nodes with six cores of 3.5 GHz and
      InfiniBand of 56 Gbit/s each, Java 8; messages of up to 64 B, in millions a second): one way
      4.0 to 4.5 with one thread and one handler, 6.7 with 16 and 4; both ways 6.0 to 7.2, and 8.6
      to 10.2; all-to-all of 4, 6, 8 nodes 14.5, 20.1, 25.6 with one thread and one handler, up to
      21.1, 31.4, 43.4 with many. A request of up to 512 B 7.8 to 8.3 µs on average.
      """;

  /** Returns all of it in words. */
  String text(Machine machine) {
    StringBuilder out = new StringBuilder();
    for (Figure figure : grid.figures()) {
      for (MessagesImplementation implementation : implementations) {
        Table table = table(figure, implementation);
        if (!table.isEmpty()) {
          out.append(table.render()).append('\n');
        }
      }
    }
    out.append("Lines: t threads that send, h that receive, of each node.\n\n");
    for (MessagesImplementation implementation : implementations) {
      out.append(implementation).append(": ").append(implementation.description()).append('\n');
    }
    out.append('\n').append(THEIRS).append('\n');
    machine.lines().forEach(line -> out.append(line).append('\n'));
    found.notes().forEach(line -> out.append(line).append('\n'));
    return out.append(found.compilingText()).toString();
  }

  private Table table(Figure figure, MessagesImplementation implementation) {
    List<String> lines = figure.lines();
    List<String> header = new ArrayList<>(List.of(figure.name() + ", " + implementation));
    lines.forEach(line -> header.add(">" + line));
    Table table = new Table(header.toArray(String[]::new));
    for (int size : figure.sizes()) {
      List<String> row = new ArrayList<>(List.of(Sizes.label(size)));
      boolean any = false;
      for (String line : lines) {
        String cell = cell(figure, line, size, implementation);
        any |= !cell.isEmpty();
        row.add(cell);
      }
      if (any) {
        table.row(row.toArray(String[]::new));
      }
    }
    return table;
  }

  private static Quantity quantity(Figure figure) {
    return figure.cells().get(0).benchmarkCase().quantity();
  }

  private String cell(Figure figure, String line, int size, MessagesImplementation implementation) {
    for (Cell cell : figure.cells()) {
      if (cell.line().equals(line) && cell.sizeBytes() == size) {
        MessagesShown benchmarkCase = cell.benchmarkCase();
        return found.cell(
            benchmarkCase.measure(),
            benchmarkCase.label(),
            implementation,
            spread -> quantity(figure).format(spread.median()));
      }
    }
    return "";
  }

  private Spread spread(
      Figure figure, String line, int size, MessagesImplementation implementation) {
    for (Cell cell : figure.cells()) {
      if (cell.line().equals(line) && cell.sizeBytes() == size) {
        return found.spread(cell.benchmarkCase().measure(), implementation);
      }
    }
    return null;
  }

  /**
   * Draws a picture of each figure.
   *
   * @param folder where to
   * @return the files
   * @throws HarnessException if one cannot be written
   */
  List<Path> draw(Path folder) throws HarnessException {
    List<Path> files = new ArrayList<>();
    for (Figure figure : grid.figures()) {
      List<SizesPicture.Line> lines = lines(figure);
      Path file = folder.resolve(figure.name() + ".svg");
      String title = figure.name() + ": " + unit(figure);
      try {
        Files.writeString(file, SizesPicture.svg(title, quantity(figure), lines));
      } catch (IOException e) {
        throw new HarnessException("cannot write " + file + ": " + FileFault.reason(e), e);
      }
      files.add(file);
    }
    return files;
  }

  private static String unit(Figure figure) {
    return quantity(figure) == Quantity.TIME ? "median time" : "messages a second";
  }

  private List<SizesPicture.Line> lines(Figure figure) {
    List<SizesPicture.Line> drawn = new ArrayList<>();
    List<String> names = figure.lines();
    for (int i = 0; i < names.size(); i++) {
      for (int j = 0; j < implementations.size(); j++) {
        Map<Integer, Double> values = new TreeMap<>();
        for (int size : figure.sizes()) {
          Spread spread = spread(figure, names.get(i), size, implementations.get(j));
          if (spread != null) {
            values.put(size, spread.median());
          }
        }
        if (!values.isEmpty()) {
          String name = implementations.get(j) + ", " + names.get(i);
          drawn.add(new SizesPicture.Line(name, i, j, values));
        }
      }
    }
    return drawn;
  }
}
