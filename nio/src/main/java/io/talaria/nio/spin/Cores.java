// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/** What the system tells about the cores for which this process competes. Any thread. */
interface Cores {
  /** What {@link #running} gives where nobody tells. */
  int UNKNOWN = -1;

  /** How many the process may use now. */
  int available();

  /** How many threads of the host run now or wait for a core, the caller among them. */
  int running();

  /** A record of the calling thread, to be read by it alone; null where nobody keeps one. */
  RunTimes runTimes();

  /** How long one thread has run, and how long it has waited for a core while it could have run. */
  interface RunTimes {
    /** Brings both times up to date; false if they cannot be told any more. */
    boolean read();

    /** Nanoseconds since the thread's start, as of the last reading. */
    long ranNs();

    /** Nanoseconds since the thread's start, as of the last reading. */
    long waitedNs();
  }
}
