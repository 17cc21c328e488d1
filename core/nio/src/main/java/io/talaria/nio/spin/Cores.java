// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/** What the system tells about the cores for which this process competes. Any thread. */
interface Cores {
  /** What {@link #online} and {@link #running} return where the system does not tell. */
  int UNKNOWN = -1;

  /** How many the process may use now. */
  int available();

  /** How many the host has. */
  int online();

  /** How many threads of the host run now or wait for a core, the caller among them. */
  int running();

  /**
   * How long the calling thread has run, and how long it has waited for a core while it could have
   * run. Takes some microseconds.
   *
   * @param times gets both, in nanoseconds since the thread's start, if they are told
   * @return whether they are
   */
  boolean runTimes(long[] times);
}
