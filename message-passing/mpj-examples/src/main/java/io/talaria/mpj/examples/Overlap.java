// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import java.util.Arrays;
import mpi.MPI;
import mpi.Request;
import mpi.Status;

/**
 * Each rank computes while it sends a large message to the next one and receives one. Messages move
 * only while a rank is in MPI, so it asks for the message between pieces of its work.
 */
public final class Overlap {
  private static final int LENGTH = 1 << 20;
  private static final int PIECES = 200;
  private static final int PIECE = 5_000;
  private static final int TAG = 1;

  private Overlap() {}

  /**
   * Runs as a rank.
   *
   * @param args none
   */
  public static void main(String[] args) {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    int left = (rank + size - 1) % size;
    int[] sent = new int[LENGTH];
    Arrays.fill(sent, rank);
    int[] received = new int[LENGTH];
    Request receive = MPI.COMM_WORLD.Irecv(received, 0, LENGTH, MPI.INT, left, TAG);
    Request send = MPI.COMM_WORLD.Isend(sent, 0, LENGTH, MPI.INT, (rank + 1) % size, TAG);
    double sum = 0;
    Status arrived = null;
    for (int piece = 0; piece < PIECES; piece++) {
      sum += work(piece);
      if (arrived == null) {
        arrived = receive.Test();
      }
    }
    boolean early = arrived != null;
    if (arrived == null) {
      arrived = receive.Wait();
    }
    send.Wait();
    int[] wanted = new int[LENGTH];
    Arrays.fill(wanted, left);
    boolean right = Arrays.equals(received, wanted) && arrived.Get_count(MPI.INT) == LENGTH;
    System.out.println(
        "rank "
            + rank
            + (early ? " has computed " : " has waited, and computed ")
            + Math.round(sum)
            + (right ? "" : ", and its message is WRONG"));
    MPI.Finalize();
    if (!right) {
      System.exit(1);
    }
  }

  /** A piece of a sum of ones. */
  private static double work(int piece) {
    double sum = 0;
    for (int i = 0; i < PIECE; i++) {
      double angle = (double) piece * PIECE + i;
      sum += Math.sin(angle) * Math.sin(angle) + Math.cos(angle) * Math.cos(angle);
    }
    return sum;
  }
}
