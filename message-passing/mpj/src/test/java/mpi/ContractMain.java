// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The whole contract in one job, on whatever device the launcher gave: fails with the first that
 * does.
 */
public final class ContractMain {
  private ContractMain() {}

  /**
   * Runs it.
   *
   * @param args ignored
   */
  public static void main(String[] args) throws Exception {
    MPI.Init(args);
    Map<String, Variant.Body> all = new LinkedHashMap<>(Contract.all());
    all.putAll(WinContract.all());
    for (Map.Entry<String, Variant.Body> behaviour : all.entrySet()) {
      try {
        behaviour.getValue().run(MPI.COMM_WORLD);
      } catch (Throwable t) {
        throw new AssertionError(behaviour.getKey(), t);
      }
    }
    if (MPI.COMM_WORLD.Rank() == 0) {
      System.out.println("contract kept by " + MPI.COMM_WORLD.engine().device().name());
    }
    MPI.Finalize();
  }
}
