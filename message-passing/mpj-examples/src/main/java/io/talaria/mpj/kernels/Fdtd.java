// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.Arrays;
import java.util.Locale;
import mpi.MPI;
import mpi.Request;

/**
 * FDTD: a pulse in a box with conducting walls, by finite differences in space and time. Each rank
 * has some rows, and gives its neighbours the ones at its ends. The result is compared, bit by bit,
 * with that of rank 0 alone.
 */
public final class Fdtd {
  private static final int FROM_ABOVE = 1;
  private static final int FROM_BELOW = 2;

  /** Fewer cells, over all steps, than this are like class S of the other kernels. */
  private static final int SMALL = 1 << 24;

  private Fdtd() {}

  /**
   * Runs as a rank.
   *
   * @param args columns, rows and steps; 1024, 512 and 500 if not given
   */
  public static void main(String[] args) {
    String[] rest = MPI.Init(args);
    int columns = rest.length > 0 ? Integer.parseInt(rest[0]) : 1024;
    int rows = rest.length > 1 ? Integer.parseInt(rest[1]) : 512;
    int steps = rest.length > 2 ? Integer.parseInt(rest[2]) : 500;
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    if (rows < size) {
      throw new IllegalArgumentException("FDTD wants a row a rank at least, not " + rows);
    }
    int first = Report.begin(rows, rank, size);
    int mine = Report.begin(rows, rank + 1, size) - first;
    Field other = new Field(columns, rows, first, mine);
    boolean small = (long) columns * rows * steps < SMALL;
    Report.warmUp(small, () -> run(other, Math.min(steps, 50), rank, size));
    Field field = new Field(columns, rows, first, mine);
    double start = Report.now();
    run(field, steps, rank, size);
    double seconds = Report.slowest(start);
    double[] whole = gathered(field, rows, rank, size);
    boolean equal = true;
    if (rank == 0) {
      Field alone = new Field(columns, rows, 0, rows);
      start = Report.now();
      run(alone, steps, 0, 1);
      double serial = Report.now() - start;
      equal = Arrays.equals(whole, inOne(alone));
      System.out.println(
          String.format(
              Locale.ROOT,
              "FDTD %d x %d cells, %d steps, %d ranks: %.3f s, %.2f times as fast as one, %s",
              columns,
              rows,
              steps,
              size,
              seconds,
              serial / seconds,
              equal ? "equal to the bit" : "NOT EQUAL"));
    }
    MPI.Finalize();
    if (!equal) {
      System.exit(1);
    }
  }

  private static void run(Field field, int steps, int rank, int size) {
    double[][] electric = field.electric;
    double[][] magnetic = field.magneticX;
    Request[] requests = new Request[2];
    for (int t = 0; t < steps; t++) {
      // The rank below wants its row behind the last to be our first, and the one above the rest.
      swap(electric[1], electric[field.rows + 1], rank - 1, rank + 1, FROM_BELOW, requests, size);
      field.magnetic();
      swap(magnetic[field.rows], magnetic[0], rank + 1, rank - 1, FROM_ABOVE, requests, size);
      field.electric();
      field.excite(t);
    }
  }

  /** Sends a row to a neighbour and receives one from the other, where they exist. */
  private static void swap(
      double[] sent, double[] received, int to, int from, int tag, Request[] requests, int size) {
    int n = sent.length;
    int count = 0;
    if (from >= 0 && from < size) {
      requests[count++] = MPI.COMM_WORLD.Irecv(received, 0, n, MPI.DOUBLE, from, tag);
    }
    if (to >= 0 && to < size) {
      requests[count++] = MPI.COMM_WORLD.Isend(sent, 0, n, MPI.DOUBLE, to, tag);
    }
    for (int i = 0; i < count; i++) {
      requests[i].Wait();
    }
  }

  private static double[] gathered(Field field, int rows, int rank, int size) {
    int n = field.columns;
    int[] counts = new int[size];
    int[] places = new int[size];
    for (int i = 0; i < size; i++) {
      places[i] = Report.begin(rows, i, size) * n;
      counts[i] = Report.begin(rows, i + 1, size) * n - places[i];
    }
    double[] whole = new double[rank == 0 ? rows * n : 0];
    MPI.COMM_WORLD.Gatherv(
        inOne(field), 0, counts[rank], MPI.DOUBLE, whole, 0, counts, places, MPI.DOUBLE, 0);
    return whole;
  }

  /** The rows of the electric part that are this rank's, one after another. */
  private static double[] inOne(Field field) {
    int n = field.columns;
    double[] all = new double[field.rows * n];
    for (int y = 0; y < field.rows; y++) {
      System.arraycopy(field.electric[y + 1], 0, all, y * n, n);
    }
    return all;
  }
}
