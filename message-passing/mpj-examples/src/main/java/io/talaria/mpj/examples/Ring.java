// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import mpi.MPI;

/** A number goes round from rank to rank; each adds its own. */
public final class Ring {
  private static final int TAG = 1;

  private Ring() {}

  /**
   * Runs as a rank.
   *
   * @param args none
   */
  public static void main(String[] args) {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    int right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    int[] number = new int[1];
    if (rank == 0) {
      MPI.COMM_WORLD.Send(number, 0, 1, MPI.INT, right, TAG);
      MPI.COMM_WORLD.Recv(number, 0, 1, MPI.INT, left, TAG);
      System.out.println("the number came back as " + number[0]);
    } else {
      MPI.COMM_WORLD.Recv(number, 0, 1, MPI.INT, left, TAG);
      number[0] += rank;
      MPI.COMM_WORLD.Send(number, 0, 1, MPI.INT, right, TAG);
    }
    MPI.Finalize();
    if (rank == 0 && number[0] != size * (size - 1) / 2) {
      System.exit(1);
    }
  }
}
