// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

/**
 * What the parent orders a peer to do.
 *
 * @param server whether it is the server
 * @param port where the server listens on the loopback address; for the client only
 * @param speed the times of all phases are divided by this
 */
record DemoJob(boolean server, int port, double speed) {}
