// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.harness.Quantity;
import io.talaria.mpj.kernels.Cg;
import io.talaria.mpj.kernels.Ep;
import io.talaria.mpj.kernels.Fdtd;
import io.talaria.mpj.kernels.Ft;
import io.talaria.mpj.kernels.Is;
import io.talaria.mpj.kernels.Mg;
import java.util.Arrays;
import java.util.List;

/** What {@code bench mpj} measures. */
@SuppressWarnings("ImmutableEnumChecker") // Lists of List.of.
enum MpjPattern {
  /** Blocking messages there and back, of byte arrays. */
  HALF("half", "half round trip", Quantity.TIME, Sizes.ALL),
  /** Small messages one way, {@value Ranks#WINDOW} in flight. */
  RATE("rate", "messages, 64 in flight", Quantity.PER_SECOND, Sizes.SHORT),
  /** Large ones, of byte arrays. */
  BYTES("bytes", "byte arrays, 64 in flight", Quantity.GIGABYTES_PER_SECOND, Sizes.LARGE),
  /** Large ones, of double arrays. */
  DOUBLES("doubles", "double arrays, 64 in flight", Quantity.GIGABYTES_PER_SECOND, Sizes.LARGE),
  /** Large ones, of memory outside the heap. */
  SEGMENTS("segments", "segments, 64 in flight", Quantity.GIGABYTES_PER_SECOND, Sizes.LARGE),
  /** A string there and back. */
  OBJECTS("objects", "half round trip of an object", Quantity.TIME, Sizes.SHORT),
  /** {@code Barrier}. */
  BARRIER("barrier", "Barrier", Quantity.TIME, List.of(0)),
  /** {@code Bcast} of bytes, whose root rotates over the ranks. */
  BCAST("bcast", "Bcast", Quantity.TIME, List.of(8, 8 << 10, 1 << 20)),
  /** {@code Allreduce}: sums of doubles. */
  ALLREDUCE("allreduce", "Allreduce", Quantity.TIME, List.of(8, 8 << 10, 1 << 20)),
  /** {@code Allgather} of so many bytes of each rank. */
  ALLGATHER("allgather", "Allgather", Quantity.TIME, List.of(8 << 10, 1 << 20)),
  /** {@code Alltoall} of so many bytes from each rank to each. */
  ALLTOALL("alltoall", "Alltoall", Quantity.TIME, List.of(8 << 10, 1 << 20)),
  /** {@code Reduce_scatter}: sums of doubles, of which each rank gets so many bytes. */
  REDUCE_SCATTER("reduce-scatter", "Reduce_scatter", Quantity.TIME, List.of(8, 8 << 10, 1 << 20)),
  /** NAS EP: random numbers. */
  EP("ep", "EP", Quantity.PER_SECOND, Ep.class),
  /** NAS CG: conjugate gradients. */
  CG("cg", "CG", Quantity.PER_SECOND, Cg.class),
  /** NAS IS: integers are sorted. */
  IS("is", "IS", Quantity.PER_SECOND, Is.class),
  /** NAS FT: Fourier transforms. */
  FT("ft", "FT", Quantity.PER_SECOND, Ft.class),
  /** NAS MG: multigrid. */
  MG("mg", "MG", Quantity.PER_SECOND, Mg.class),
  /** Finite differences of a field in time. */
  FDTD("fdtd", "FDTD", Quantity.TIME, Fdtd.class),
  /** A job that does nothing, from the start of its launcher to its end. */
  START("start", "start and end of a job", Quantity.TIME, List.of(0)),
  /** The memory of a rank that has done next to nothing. */
  MEMORY("memory", "memory a rank", Quantity.BYTES, List.of(0)),
  /** What a blocking call allocates, the mean of {@code Send} and {@code Recv}. */
  ALLOCATED("allocated", "allocated by Send or Recv", Quantity.BYTES, List.of(1 << 10, 1 << 20)),
  /** What part of a message's time passes while its receiver computes. */
  OVERLAP("overlap", "hidden by computing", Quantity.PERCENT, List.of(1 << 20)),
  /** {@code Put} into another rank's window, and {@code Flush}. */
  PUT("put", "Put and Flush", Quantity.TIME, List.of(8, 8 << 10, 1 << 20)),
  /** {@code Get} out of another rank's window, and {@code Flush}. */
  GET("get", "Get and Flush", Quantity.TIME, List.of(8, 8 << 10, 1 << 20)),
  /** {@code Fetch_and_op} on a long of another rank's window, and {@code Flush}. */
  FETCH("fetch", "Fetch_and_op and Flush", Quantity.TIME, List.of(0));

  /** The sizes that several patterns share, in bytes. */
  private static final class Sizes {
    private static final List<Integer> SHORT = List.of(8, 1 << 10);
    private static final List<Integer> LARGE = List.of(64 << 10, 1 << 20, 4 << 20);
    private static final List<Integer> ALL =
        List.of(8, 64, 1 << 10, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20);

    private Sizes() {}
  }

  private static final int[] LIMITS = {1 << 10, 8 << 10, 64 << 10, 1 << 20, 4 << 20};
  private static final int[] BLOCKS = {10_000, 5_000, 1_000, 100, 25, 10};

  private final String word;
  private final String title;
  private final Quantity quantity;
  private final List<Integer> sizes;
  private final Class<?> kernel;

  MpjPattern(String word, String title, Quantity quantity, Class<?> kernel) {
    this(word, title, quantity, List.of(0), kernel);
  }

  MpjPattern(String word, String title, Quantity quantity, List<Integer> sizes) {
    this(word, title, quantity, sizes, null);
  }

  MpjPattern(String word, String title, Quantity quantity, List<Integer> sizes, Class<?> kernel) {
    this.word = word;
    this.title = title;
    this.quantity = quantity;
    this.sizes = sizes;
    this.kernel = kernel;
  }

  /** Returns those that are measured if the user names none: messages and collectives. */
  static List<MpjPattern> usual() {
    return Arrays.stream(values()).filter(pattern -> pattern.compareTo(EP) < 0).toList();
  }

  /** Returns the program of its own that it is, which verifies itself; null if it is none. */
  Class<?> kernel() {
    return kernel;
  }

  /** Returns the name of the program that does it by MPI in C; null if there is none. */
  String programInC() {
    return switch (this) {
      case OBJECTS, ALLOCATED -> null;
      default -> kernel == null ? Ranks.IN_C : word;
    };
  }

  /** Returns its name to be displayed. */
  String title() {
    return title;
  }

  Quantity quantity() {
    return quantity;
  }

  /** Returns the bytes that are measured if the user names none. */
  List<Integer> sizes() {
    return sizes;
  }

  /** Returns whether all ranks take part in its messages, however many they are; else two do. */
  boolean collective() {
    return compareTo(BARRIER) >= 0 && compareTo(EP) < 0;
  }

  /** Returns whether it needs windows. */
  boolean oneSided() {
    return compareTo(PUT) >= 0;
  }

  /**
   * Returns by how many ranks it is done.
   *
   * @param wanted by how many the user wants what can be done by any number; empty for the usual
   */
  List<Integer> ranks(List<Integer> wanted) {
    if (compareTo(BARRIER) < 0 || compareTo(ALLOCATED) >= 0) {
      return List.of(2);
    }
    return !wanted.isEmpty()
        ? wanted
        : kernel != null ? List.of(1, 2, 4) : collective() ? List.of(2) : List.of(2, 8, 16);
  }

  /** Returns the unit of {@link #shown}. */
  String unit() {
    return switch (quantity) {
      case TIME -> inMillis() ? "ms" : "µs";
      case PER_SECOND -> kernel == null ? "millions a second" : "MOPS";
      case BYTES -> this == MEMORY ? "MiB" : "B";
      default -> quantity.unit();
    };
  }

  /**
   * Returns a figure in the unit of tables.
   *
   * @param figure the figure
   */
  double shown(double figure) {
    return switch (quantity) {
      case TIME -> figure / (inMillis() ? 1e6 : 1e3);
      case PER_SECOND -> figure / 1e6;
      case BYTES -> this == MEMORY ? figure / (1 << 20) : figure;
      default -> figure;
    };
  }

  private boolean inMillis() {
    return kernel != null || this == START;
  }

  /** Returns whether more is better. */
  boolean more() {
    return this == OVERLAP || quantity.ratio(1, 2) > 1;
  }

  /** Returns whether messages are in flight at the same time. */
  boolean windowed() {
    return this == RATE || quantity == Quantity.GIGABYTES_PER_SECOND;
  }

  /** Returns whether a size is a number of doubles. */
  boolean ofDoubles() {
    return this == DOUBLES || this == ALLREDUCE || this == REDUCE_SCATTER;
  }

  /**
   * Returns how often it is done in a block.
   *
   * @param bytes the size
   */
  int count(int bytes) {
    int i = 0;
    while (i < LIMITS.length && bytes > LIMITS[i]) {
      i++;
    }
    return windowed() ? Math.max(1, BLOCKS[i] / Ranks.WINDOW) : BLOCKS[i];
  }

  /**
   * Returns the figure, in the unit of its {@link #quantity}.
   *
   * @param bytes the size
   * @param iterations how often it was done; of {@link #OVERLAP} the nanoseconds that could be
   *     hidden
   * @param cost in how many nanoseconds; or how many bytes were allocated, or nanoseconds hidden
   */
  double figure(int bytes, long iterations, long cost) {
    if (this == OVERLAP) {
      return 100.0 * cost / iterations;
    }
    if (windowed()) {
      double messages = (double) iterations * Ranks.WINDOW;
      return this == RATE ? messages * 1e9 / cost : messages * bytes / cost;
    }
    double each = (double) cost / iterations;
    return collective() || oneSided() ? each : each / 2;
  }

  /** Returns the word that users write. */
  @Override
  public String toString() {
    return word;
  }
}
