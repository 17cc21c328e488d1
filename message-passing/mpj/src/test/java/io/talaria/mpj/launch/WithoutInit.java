// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import mpi.MPI;

/** A program whose rank 0 ends without a call of MPI. */
public final class WithoutInit {
  private WithoutInit() {}

  /**
   * Runs it.
   *
   * @param args ignored
   */
  public static void main(String[] args) {
    if (!System.getenv("TALARIA_MPJ_RANK").equals("0")) {
      MPI.Init(args);
      MPI.Finalize();
    }
  }
}
