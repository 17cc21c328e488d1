// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Servers;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.PrintWriter;
import java.util.List;

/**
 * A server on this machine that keeps data in files, in a JVM and a folder of its own; closing it
 * ends the one and removes the other. Its JVM is given a {@link FolderJob}. Used by one thread.
 */
public final class FolderServer implements Servers {
  private final ScratchFolder folder;
  private final ChildJvm server;
  private final HostPort address;

  private FolderServer(ScratchFolder folder, ChildJvm server, HostPort address) {
    this.folder = folder;
    this.server = server;
    this.address = address;
  }

  /**
   * Starts a server on any free port of this machine alone.
   *
   * @param launch how to start it
   * @param main the class that it runs
   * @param implementation the implementation whose sockets are used
   * @return the server; the caller closes it
   * @throws HarnessException if it does not start
   * @throws InterruptedException if interrupted
   */
  public static FolderServer start(Launch launch, Class<?> main, Implementation implementation)
      throws HarnessException, InterruptedException {
    ScratchFolder folder = ScratchFolder.make();
    ChildJvm server = null;
    try {
      int core = launch.pinning().serverCore();
      server = launch.start("server", main, implementation, core, List.of());
      HostPort address = Orders.listen(server, Orders.local(), FolderJob.in(folder));
      return new FolderServer(folder, server, address);
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      close(server, folder);
      throw e;
    }
  }

  /**
   * Serves until this process is stopped.
   *
   * @param launch how to start the server
   * @param main the class that it runs
   * @param where where it listens
   * @param out where to say so
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  public static void serve(Launch launch, Class<?> main, HostPort where, PrintWriter out)
      throws HarnessException, InterruptedException {
    try (ScratchFolder folder = ScratchFolder.make()) {
      Orders.serve(launch, main, where, FolderJob.in(folder), out);
    }
  }

  @Override
  public List<HostPort> addresses() {
    return List.of(address);
  }

  @Override
  public List<ChildJvm> jvms() {
    return List.of(server);
  }

  @Override
  public void close() {
    close(server, folder);
  }

  /** The server first: it writes into the folder. */
  private static void close(ChildJvm server, ScratchFolder folder) {
    if (server != null) {
      server.close();
    }
    folder.close();
  }
}
