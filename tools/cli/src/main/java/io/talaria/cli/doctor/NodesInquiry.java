// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.util.List;

/**
 * Answers {@code doctor --nodes}. Found as a service, because messaging needs a newer Java than
 * this module.
 */
public interface NodesInquiry {
  /**
   * What was found of a node.
   *
   * @param id its number
   * @param address where the file says it is
   * @param transport by which it was reached; null: it was not
   * @param reason why by that transport, or why not
   */
  record Reached(int id, String address, String transport, String reason) {}

  /**
   * Connects to all nodes of a file, as a node of their cluster that sends nothing.
   *
   * @param nodes a line {@code ID HOST:PORT} each
   * @param cluster its name
   * @param key of all of them, or null
   * @return all of them, by their numbers
   * @throws HarnessException if it cannot ask at all
   * @throws InterruptedException if interrupted
   */
  List<Reached> ask(Path nodes, String cluster, Path key)
      throws HarnessException, InterruptedException;
}
