// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/** What a node's poller does while there is nothing to receive. */
public enum IdleStrategy {
  /**
   * It looks for {@link NodeOptions#spin} as long as that pays, then sleeps until it is woken. An
   * idle node costs nothing.
   */
  ADAPTIVE,
  /**
   * It looks without rest, and takes a core for itself as long as the node lives: for those who
   * have cores to spare. Nobody ever has to wake it.
   */
  BUSY_SPIN,
  /**
   * It looks for 100 ms, then offers its core to others between two looks for a second, then sleeps
   * for a moment (1 ns, which the kernel makes some 50 µs) between two; whatever comes begins this
   * anew. Nobody ever has to wake it; an idle node goes on looking thousands of times a second.
   * These are the three steps of DXNet (arXiv 1812.01963), there to be compared.
   */
  BACKOFF
}
