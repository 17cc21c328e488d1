// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Timing;
import io.talaria.workloads.messages.wire.MessagesImplementation;
import io.talaria.workloads.messages.wire.MessagesPattern;
import java.util.List;

/**
 * What a JVM with a node is told.
 *
 * @param id of its node, from 1
 * @param nodes how many there are
 * @param implementation the implementation, which tells the transport
 * @param pattern which nodes send to which others
 * @param sizeBytes the objects
 * @param how they are sent and received
 * @param directory a private one of all of them, for what has names
 * @param timing how long
 */
record NodesJob(
    int id,
    int nodes,
    MessagesImplementation implementation,
    MessagesPattern pattern,
    int sizeBytes,
    NodesHow how,
    String directory,
    Timing timing) {

  /**
   * Where all are, said when all are there.
   *
   * @param ports by TCP, of node 1 and so on; 0: it has none
   */
  record Known(List<Integer> ports) {}

  /**
   * Begin now.
   *
   * @param ns for how long
   * @param warmsUp whether it is to find out whether all is warm, which takes the time of others
   */
  record Go(long ns, boolean warmsUp) {}

  /**
   * What a node has done.
   *
   * @param messages that it has sent, and that were received
   * @param elapsedNs until the last was received
   * @param warm whether it has done enough to be measured
   * @param rested whether compilers rested then
   */
  record Went(long messages, long elapsedNs, boolean warm, boolean rested) {}
}
