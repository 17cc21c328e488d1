// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import java.util.Arrays;
import mpi.MPI;

/**
 * Heat in a rod between a hot wall and a cold one. Ranks share the rod, and pass the cells at their
 * ends to their neighbours in each step. The result is compared with a run of rank 0 alone.
 */
public final class Heat {
  private static final int CELLS = 1_000;
  private static final int STEPS = 500;
  private static final double HOT = 100;
  private static final double SPREAD = 0.25;
  private static final int LEFTWARDS = 1;
  private static final int RIGHTWARDS = 2;

  private Heat() {}

  /**
   * Runs as a rank.
   *
   * @param args none
   */
  public static void main(String[] args) {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    int[] counts = new int[size];
    int[] places = new int[size];
    for (int i = 0; i < size; i++) {
      places[i] = CELLS * i / size;
      counts[i] = CELLS * (i + 1) / size - places[i];
    }
    double[] mine = run(counts[rank], rank, size);
    double[] whole = new double[rank == 0 ? CELLS : 0];
    MPI.COMM_WORLD.Gatherv(
        mine, 1, counts[rank], MPI.DOUBLE, whole, 0, counts, places, MPI.DOUBLE, 0);
    boolean equal = true;
    if (rank == 0) {
      double[] alone = run(CELLS, 0, 1);
      equal = Arrays.equals(whole, 0, CELLS, alone, 1, CELLS + 1);
      System.out.println(
          size + " ranks and one alone: " + (equal ? "equal to the bit" : "NOT EQUAL"));
    }
    MPI.Finalize();
    if (!equal) {
      System.exit(1);
    }
  }

  /** Returns the cells of a rank, with one more at each end: a neighbour's, or a wall. */
  private static double[] run(int cells, int rank, int size) {
    int left = rank > 0 ? rank - 1 : MPI.PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI.PROC_NULL;
    double[] now = new double[cells + 2];
    double[] next = new double[cells + 2];
    if (rank == 0) {
      now[0] = HOT;
      next[0] = HOT;
    }
    for (int step = 0; step < STEPS; step++) {
      if (size > 1) {
        // A message to or from PROC_NULL moves nothing, so the walls stay as they are.
        exchange(now, 1, left, cells + 1, right, LEFTWARDS);
        exchange(now, cells, right, 0, left, RIGHTWARDS);
      }
      for (int i = 1; i <= cells; i++) {
        next[i] = now[i] + SPREAD * (now[i - 1] - 2 * now[i] + now[i + 1]);
      }
      double[] old = now;
      now = next;
      next = old;
    }
    return now;
  }

  private static void exchange(double[] cells, int sent, int to, int received, int from, int tag) {
    MPI.COMM_WORLD.Sendrecv(
        cells, sent, 1, MPI.DOUBLE, to, tag, cells, received, 1, MPI.DOUBLE, from, tag);
  }
}
