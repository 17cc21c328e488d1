// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Servers;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.PrintWriter;

/** A store that YCSB drives, as its command sees it. */
public interface Store {
  /** Returns its name. */
  String name();

  /** Returns the class that its JVMs run; as client it serves {@link YcsbClient#on}. */
  Class<?> main();

  /** Returns whether several servers may share the records. */
  boolean several();

  /**
   * Serves until this process is stopped.
   *
   * @param launch how to start JVMs
   * @param where where to listen
   * @param out where to say so
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  void serve(Launch launch, HostPort where, PrintWriter out)
      throws HarnessException, InterruptedException;

  /**
   * Starts empty servers on this machine.
   *
   * @param launch how to start JVMs
   * @param implementation the implementation whose sockets are used
   * @return the servers; the caller closes them
   * @throws HarnessException if one does not start
   * @throws InterruptedException if interrupted
   */
  Servers start(Launch launch, Implementation implementation)
      throws HarnessException, InterruptedException;
}
