// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.demo;

/**
 * What the parent orders a peer to do.
 *
 * @param server whether it is the server
 * @param ports where the server listens; for the client only
 * @param speed the times of all phases are divided by this
 */
record DemoJob(boolean server, Ports ports, double speed) {
  /**
   * The ports of the server on the loopback address.
   *
   * @param echo where what is sent comes back
   * @param sink where what is sent is counted
   */
  record Ports(int echo, int sink) {}
}
