// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.nio.file.Files;
import java.nio.file.Path;
import mpi.MPI;

/** A program one of whose ranks does not come to Init. */
public final class Late {
  private Late() {}

  /**
   * Runs it.
   *
   * @param args a file that rank 1 makes: the launcher knows its pid then, so others may call Init
   * @throws Exception if the file cannot be made
   */
  public static void main(String[] args) throws Exception {
    Path begun = Path.of(args[0]);
    if (System.getenv("TALARIA_MPJ_RANK").equals("1")) {
      System.err.println("I am late");
      Files.createFile(begun);
      Thread.sleep(600_000);
    }
    while (!Files.exists(begun)) {
      Thread.sleep(20);
    }
    MPI.Init(args);
    MPI.Finalize();
  }
}
