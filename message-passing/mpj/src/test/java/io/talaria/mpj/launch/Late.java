// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import mpi.MPI;

/** A program one of whose ranks does not come to Init. */
public final class Late {
  private Late() {}

  /**
   * Runs it.
   *
   * @param args ignored
   * @throws Exception never
   */
  public static void main(String[] args) throws Exception {
    if (System.getenv("TALARIA_MPJ_RANK").equals("1")) {
      System.err.println("I am late");
      Thread.sleep(600_000);
    }
    MPI.Init(args);
    MPI.Finalize();
  }
}
