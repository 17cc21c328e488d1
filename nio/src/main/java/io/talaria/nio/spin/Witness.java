// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One thread that spins tells for all how long those who spin wait for their core. One at a time,
 * so that a process with thousands of them reads one file now and then; another takes over when it
 * has been silent. Any thread, each for itself.
 */
final class Witness {
  /**
   * After so much spinning the times are read again, if a spin was late or the last was crowded.
   */
  static final long EVERY_NS = 10_000_000;

  /** While nothing is the matter, the time doubles up to this. */
  static final long CALM_EVERY_NS = 160_000_000;

  /** A witness that has not spun for so long is replaced by one who does. */
  static final long SILENT_NS = 100_000_000;

  /** More than this share of the time in which it could have run, and others want its core. */
  static final int MOST_WAITED_PERCENT = 3;

  private final Cores cores;
  private final AtomicReference<Statement> current = new AtomicReference<>();

  /** What one thread has told. Its own, except what is marked. */
  private static final class Statement {
    final Thread thread;

    /** How long it had run, and how long it had waited. */
    final long[] times = new long[2];

    /** Whether the system tells these. */
    boolean told;

    long spunNs;

    /** After how much spinning they are read again. */
    long everyNs = EVERY_NS;

    /** When it last spun. Read by all; a late value costs a change of witness. */
    final AtomicLong heardAtNs;

    Statement(Thread thread, long nowNs) {
      this.thread = thread;
      heardAtNs = new AtomicLong(nowNs);
    }
  }

  /** What a spin has brought to light. */
  enum Verdict {
    /** Not yet known. */
    OPEN,
    /** Those who spin have their cores for themselves. */
    ALONE,
    /** They wait for their cores, so others want them. */
    CROWDED,
    /** The system does not tell. */
    UNTOLD
  }

  Witness(Cores cores) {
    this.cores = cores;
  }

  /**
   * The calling thread has spun. Reads a file now and then, and does nothing else mostly.
   *
   * @param late whether it has not run all the time
   */
  Verdict spun(long spunNs, boolean late, long nowNs) {
    Thread caller = Thread.currentThread();
    Statement known = current.get();
    if (known == null || known.thread != caller) {
      if (known == null || nowNs - known.heardAtNs.getOpaque() > SILENT_NS) {
        Statement own = new Statement(caller, nowNs);
        own.told = cores.runTimes(own.times);
        boolean unused = current.compareAndSet(known, own);
      }
      return Verdict.OPEN;
    }
    known.heardAtNs.setOpaque(nowNs);
    if (!known.told) {
      return Verdict.UNTOLD;
    }
    known.spunNs += spunNs;
    return known.spunNs < (late ? EVERY_NS : known.everyNs) ? Verdict.OPEN : judge(known);
  }

  private Verdict judge(Statement known) {
    long[] times = known.times;
    long ranBeforeNs = times[0];
    long waitedBeforeNs = times[1];
    known.spunNs = 0;
    known.told = cores.runTimes(times);
    if (!known.told) {
      return Verdict.UNTOLD;
    }
    long waitedNs = times[1] - waitedBeforeNs;
    long couldNs = waitedNs + times[0] - ranBeforeNs;
    boolean crowded = waitedNs * 100 > couldNs * MOST_WAITED_PERCENT;
    known.everyNs = crowded ? EVERY_NS : Math.min(CALM_EVERY_NS, 2 * known.everyNs);
    return crowded ? Verdict.CROWDED : Verdict.ALONE;
  }
}
