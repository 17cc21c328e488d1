// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/** A benchmark as {@link IterationOptions#compare} runs it. */
public interface Benchmark {
  /** Returns the name of the format of its JSON. */
  String format();

  /** Returns what was asked for, by name, besides what {@link IterationOptions} knows. */
  Map<String, Object> options();

  /**
   * Returns whether it may be measured again with the same servers.
   *
   * @param side which side this process is
   */
  default boolean repeatable(SideOptions.Side side) {
    return true;
  }

  /**
   * Returns the implementations that are compared.
   *
   * @param sockets those that the options choose
   */
  default List<Implementation> implementations(List<Implementation> sockets) {
    return sockets;
  }

  /** Returns whether a client may name several servers. */
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
   * Returns what is measured.
   *
   * @param launch how to start JVMs
   * @param remotes where the servers are; empty to start them here
   */
  List<BenchmarkCase> cases(Launch launch, List<HostPort> remotes);
}
