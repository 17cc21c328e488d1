// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import java.util.Locale;
import mpi.MPI;

/** The area under 4 / (1 + x²) from 0 to 1, which is π: each rank adds up some strips of it. */
public final class Pi {
  private static final int STRIPS = 10_000_000;

  private Pi() {}

  /**
   * Runs as a rank.
   *
   * @param args none
   */
  public static void main(String[] args) {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    double[] mine = new double[1];
    for (int i = rank; i < STRIPS; i += size) {
      double x = (i + 0.5) / STRIPS;
      mine[0] += 4 / (1 + x * x) / STRIPS;
    }
    double[] all = new double[1];
    MPI.COMM_WORLD.Reduce(mine, 0, all, 0, 1, MPI.DOUBLE, MPI.SUM, 0);
    if (rank == 0) {
      System.out.println(String.format(Locale.ROOT, "%.9f by %d ranks", all[0], size));
    }
    MPI.Finalize();
    if (rank == 0 && Math.abs(all[0] - Math.PI) > 1e-10) {
      System.exit(1);
    }
  }
}
