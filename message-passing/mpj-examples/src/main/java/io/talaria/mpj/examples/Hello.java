// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import mpi.MPI;

/** Each rank says who it is. */
public final class Hello {
  private Hello() {}

  /**
   * Runs as a rank.
   *
   * @param args none
   */
  public static void main(String[] args) {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    System.out.println("hello from " + rank + " of " + MPI.COMM_WORLD.Size());
    MPI.Finalize();
  }
}
