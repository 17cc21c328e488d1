// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/** Selects what a node's poller does while there is nothing to receive. */
public enum IdleStrategy {
  /**
   * Polls for {@link NodeOptions#spin} as long as that pays, then sleeps until it is woken. An idle
   * node uses no processor time.
   */
  ADAPTIVE,
  /**
   * Polls all the time, and uses a whole core as long as the node lives. No other thread has to
   * wake the poller.
   */
  BUSY_SPIN,
  /**
   * Polls for 100 ms, then yields between two polls for a second, then parks for 1 ns between two
   * polls, which the kernel turns into about 50 µs. Any event restarts this sequence. No other
   * thread has to wake the poller; an idle node polls thousands of times a second. These are the
   * three steps of DXNet (arXiv 1812.01963), for comparison with it.
   */
  BACKOFF
}
