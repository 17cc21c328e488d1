// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.Timing;

/**
 * What the parent orders a peer to do.
 *
 * @param server whether it is the server
 * @param scenario the scenario
 * @param timing how long
 * @param port the server's port; for the client only
 */
record Job(boolean server, Scenario scenario, Timing timing, int port) {}
