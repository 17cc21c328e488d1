// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.Pinning;
import io.talaria.messaging.Dispatch;
import io.talaria.messaging.IdleStrategy;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.wire.MessagesPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The experiments of DXNet's paper (arXiv 1812.01963), with its parameters: by size, threads that
 * send, threads that receive, and nodes.
 *
 * @param figures one after the other
 */
record PaperGrid(List<Figure> figures) {
  /** The patterns of the grid, all of which are measured by default. */
  static final List<MessagesPattern> PATTERNS =
      List.of(
          MessagesPattern.THROUGHPUT,
          MessagesPattern.BOTH_WAYS,
          MessagesPattern.REQUEST,
          MessagesPattern.ALL_TO_ALL,
          MessagesPattern.TURNING);

  private static final List<Integer> ALL_SIZES =
      IntStream.iterate(1, size -> size <= Sizes.MAX_BYTES, size -> 2 * size).boxed().toList();
  private static final List<Integer> FEW_SIZES = List.of(Sizes.SMALL, 1 << 10, 64 << 10);

  /** Copies the list. */
  PaperGrid {
    figures = List.copyOf(figures);
  }

  /**
   * A case.
   *
   * @param line which line of the figure it is a point of
   * @param sizeBytes the object
   * @param benchmarkCase what is measured
   */
  record Cell(String line, int sizeBytes, MessagesShown benchmarkCase) {}

  /**
   * What becomes one picture.
   *
   * @param name a word for files, too
   * @param cells its points
   */
  record Figure(String name, List<Cell> cells) {
    Figure {
      cells = List.copyOf(cells);
    }

    /** The lines, in their order. */
    List<String> lines() {
      return cells.stream().map(Cell::line).distinct().toList();
    }

    /** The sizes, from small to large. */
    List<Integer> sizes() {
      return cells.stream().map(Cell::sizeBytes).distinct().sorted().toList();
    }
  }

  /**
   * Lays out the grid.
   *
   * @param patterns which of {@link #PATTERNS}
   * @param sizes of which objects; none: those of the paper, 1 B to 1 MiB
   * @param quick whether a few of all will do
   * @param timing how long each case takes
   * @param pinning which cores the JVMs have
   */
  static PaperGrid of(
      List<MessagesPattern> patterns,
      List<Integer> sizes,
      boolean quick,
      Timing timing,
      Pinning pinning) {
    List<Integer> usual = quick ? FEW_SIZES : ALL_SIZES;
    List<Integer> threads = quick ? List.of(1, 4) : List.of(1, 2, 4, 8, 16);
    List<Integer> handlers = quick ? List.of(1, 2) : List.of(1, 2, 4);
    List<Integer> nodes = quick ? List.of(4) : List.of(4, 6, 8);
    Layout grid = new Layout(sizes.isEmpty() ? usual : sizes, timing, pinning);
    if (patterns.contains(MessagesPattern.THROUGHPUT)) {
      grid.alone("engine-alone", MessagesPattern.THROUGHPUT, List.of(1));
      grid.nodes("one-way", MessagesPattern.THROUGHPUT, List.of(2), threads, handlers);
      grid.reused();
    }
    if (patterns.contains(MessagesPattern.BOTH_WAYS)) {
      grid.nodes("both-ways", MessagesPattern.BOTH_WAYS, List.of(2), threads, handlers);
    }
    if (patterns.contains(MessagesPattern.REQUEST)) {
      grid.alone("requests", MessagesPattern.REQUEST, threads);
    }
    int maxThreads = threads.getLast();
    int maxHandlers = handlers.getLast();
    if (patterns.contains(MessagesPattern.ALL_TO_ALL)) {
      grid.nodes("all-to-all", MessagesPattern.ALL_TO_ALL, nodes, List.of(1), List.of(1));
      grid.nodes(
          "all-to-all-many-threads",
          MessagesPattern.ALL_TO_ALL,
          nodes,
          List.of(maxThreads),
          List.of(maxHandlers));
    }
    if (patterns.contains(MessagesPattern.TURNING)) {
      grid.nodes("turning", MessagesPattern.TURNING, nodes, List.of(1), List.of(1));
    }
    return new PaperGrid(grid.figures);
  }

  /** All cases. */
  List<MessagesShown> cases() {
    return figures.stream()
        .flatMap(each -> each.cells().stream())
        .map(Cell::benchmarkCase)
        .toList();
  }

  /** What is laid out so far. */
  private static final class Layout {
    private final List<Integer> sizes;
    private final Timing timing;
    private final Pinning pinning;
    private final List<Figure> figures = new ArrayList<>();

    Layout(List<Integer> sizes, Timing timing, Pinning pinning) {
      this.sizes = sizes;
      this.timing = timing;
      this.pinning = pinning;
    }

    /** Received on the poller; with one thread the bare ring is beside it. */
    void alone(String name, MessagesPattern pattern, List<Integer> threads) {
      List<Cell> cells = new ArrayList<>();
      for (int sending : threads) {
        for (int size : sizes) {
          MessagesCase benchmarkCase =
              new MessagesCase(
                  pattern, size, sending, IdleStrategy.ADAPTIVE, null, timing, pinning);
          String line = sending == 1 ? "inline" : sending + " t inline";
          cells.add(new Cell(line, size, benchmarkCase));
        }
      }
      figures.add(new Figure(name, cells));
    }

    /** As the paper has it: handlers receive, in no order. */
    void nodes(
        String name,
        MessagesPattern pattern,
        List<Integer> counts,
        List<Integer> threads,
        List<Integer> handlers) {
      List<Cell> cells = new ArrayList<>();
      for (int count : counts) {
        for (int sending : threads) {
          for (int receiving : handlers) {
            NodesHow how =
                new NodesHow(sending, receiving, Dispatch.CONCURRENT, false, IdleStrategy.ADAPTIVE);
            String line = sending + " t " + receiving + " h";
            line = counts.size() == 1 ? line : count + " nodes " + line;
            add(cells, line, pattern, count, how, size -> true);
          }
        }
      }
      figures.add(new Figure(name, cells));
    }

    /** New objects, and the same again and again. */
    void reused() {
      List<Cell> cells = new ArrayList<>();
      for (boolean reuse : new boolean[] {false, true}) {
        NodesHow how = new NodesHow(1, 0, Dispatch.INLINE, reuse, IdleStrategy.ADAPTIVE);
        String line = reuse ? "reused" : "new";
        add(cells, line, MessagesPattern.THROUGHPUT, 2, how, Sizes::isRecord);
      }
      if (!cells.isEmpty()) {
        figures.add(new Figure("reused", cells));
      }
    }

    private void add(
        List<Cell> cells,
        String line,
        MessagesPattern pattern,
        int count,
        NodesHow how,
        IntPredicate fits) {
      for (int size : sizes) {
        if (fits.test(size)) {
          cells.add(
              new Cell(line, size, new NodesCase(pattern, count, size, how, timing, pinning)));
        }
      }
    }
  }
}
