// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.bench;

import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/** Half round trips and messages in flight between two ranks, of byte arrays. */
public final class PingPong {
  private static final int WINDOW = 64;

  private PingPong() {}

  /**
   * Runs as a rank, and prints a line for each size.
   *
   * @param args size, rounds to warm up, rounds to measure and windows to measure, again and again
   */
  public static void main(String[] args) {
    String[] rest = MPI.Init(args);
    Intracomm world = MPI.COMM_WORLD;
    int rank = world.Rank();
    for (int a = 0; a + 3 < rest.length; a += 4) {
      int size = Integer.parseInt(rest[a]);
      int rounds = Integer.parseInt(rest[a + 2]);
      int windows = Integer.parseInt(rest[a + 3]);
      byte[] buffer = new byte[size + 1];
      pingpong(world, buffer, size, Integer.parseInt(rest[a + 1]), rank);
      world.Barrier();
      double start = MPI.Wtime();
      pingpong(world, buffer, size, rounds, rank);
      double half = (MPI.Wtime() - start) / rounds / 2 * 1e6;
      window(world, buffer, size, windows / 2 + 1, rank);
      world.Barrier();
      start = MPI.Wtime();
      window(world, buffer, size, windows, rank);
      double rate = (double) windows * WINDOW / (MPI.Wtime() - start);
      if (rank == 0) {
        System.out.printf("result %d %.4f %.0f%n", size, half, rate);
      }
    }
    MPI.Finalize();
  }

  private static void pingpong(Intracomm world, byte[] buffer, int size, int rounds, int rank) {
    for (int i = 0; i < rounds; i++) {
      if (rank == 0) {
        world.Send(buffer, 0, size, MPI.BYTE, 1, 1);
        world.Recv(buffer, 0, size, MPI.BYTE, 1, 1);
      } else {
        world.Recv(buffer, 0, size, MPI.BYTE, 0, 1);
        world.Send(buffer, 0, size, MPI.BYTE, 0, 1);
      }
    }
  }

  private static void window(Intracomm world, byte[] buffer, int size, int rounds, int rank) {
    Request[] requests = new Request[WINDOW];
    for (int i = 0; i < rounds; i++) {
      for (int k = 0; k < WINDOW; k++) {
        requests[k] =
            rank == 0
                ? world.Isend(buffer, 0, size, MPI.BYTE, 1, 2)
                : world.Irecv(buffer, 0, size, MPI.BYTE, 0, 2);
      }
      Request.Waitall(requests);
      if (rank == 0) {
        world.Recv(buffer, 0, 0, MPI.BYTE, 1, 3);
      } else {
        world.Send(buffer, 0, 0, MPI.BYTE, 0, 3);
      }
    }
  }
}
