// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import mpi.MPI;

/**
 * EP: pairs of Gaussian random numbers, counted by size in square rings. Ranks share the batches
 * and meet only at the end.
 */
public final class Ep {
  private static final long SEED = 271_828_183;
  private static final int BATCH = 1 << 16;
  private static final int RINGS = 10;

  private Ep() {}

  /**
   * Runs as a rank.
   *
   * @param args class of problem: S, W or A
   */
  public static void main(String[] args) {
    char problem = Report.problem(MPI.Init(args));
    int exponent = problem == 'S' ? 24 : problem == 'W' ? 25 : 28;
    int batches = 1 << (exponent - 16);
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    double[] found = new double[2 + RINGS];
    Report.warmUp(problem == 'S', () -> batch(0, new double[2 + RINGS]));
    double start = Report.now();
    int end = Report.begin(batches, rank + 1, size);
    for (int i = Report.begin(batches, rank, size); i < end; i++) {
      batch(i, found);
    }
    double[] sums = new double[found.length];
    MPI.COMM_WORLD.Allreduce(found, 0, sums, 0, found.length, MPI.DOUBLE, MPI.SUM);
    double seconds = Report.slowest(start);
    double x = problem == 'S' ? -3247.834652034740 : -2863.319731645753;
    double y = problem == 'S' ? -6958.407078382297 : -6320.053679109499;
    if (problem == 'A') {
      x = -4295.875165629892;
      y = -15807.32573678431;
    }
    boolean verified = Report.equal(sums[0], x, 1e-8) && Report.equal(sums[1], y, 1e-8);
    Report.end("EP", problem, (1L << (exponent + 1)) / 1e6, seconds, verified);
  }

  /** Adds the sums of both numbers and the counts of a batch of pairs. */
  private static void batch(int number, double[] found) {
    Lcg random = new Lcg(SEED).skip(2L * BATCH * number);
    double sumX = 0;
    double sumY = 0;
    for (int i = 0; i < BATCH; i++) {
      double x = 2 * random.next() - 1;
      double y = 2 * random.next() - 1;
      double t = x * x + y * y;
      if (t <= 1) {
        double factor = Math.sqrt(-2 * Math.log(t) / t);
        double gaussX = x * factor;
        double gaussY = y * factor;
        found[2 + (int) Math.max(Math.abs(gaussX), Math.abs(gaussY))]++;
        sumX += gaussX;
        sumY += gaussY;
      }
    }
    found[0] += sumX;
    found[1] += sumY;
  }
}
