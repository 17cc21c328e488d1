// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.nio.file.Files;
import java.nio.file.Path;
import mpi.MPI;

/** A program whose rank 0 ends without a call of MPI. */
public final class WithoutInit {
  private WithoutInit() {}

  /**
   * Runs it.
   *
   * @param args a file that rank 0 makes: the launcher knows its pid then, so others may call Init
   * @throws Exception if the file cannot be made
   */
  public static void main(String[] args) throws Exception {
    Path begun = Path.of(args[0]);
    String thread = Thread.currentThread().getName();
    // With -dev sm each rank is a thread, and all have the same environment.
    boolean first =
        thread.startsWith("rank-")
            ? thread.equals("rank-0")
            : System.getenv("TALARIA_MPJ_RANK").equals("0");
    if (first) {
      Files.createFile(begun);
    } else {
      while (!Files.exists(begun)) {
        Thread.sleep(20);
      }
      MPI.Init(args);
      MPI.Finalize();
    }
  }
}
