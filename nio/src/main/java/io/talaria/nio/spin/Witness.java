// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import io.talaria.nio.spin.Cores.RunTimes;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One thread that spins tells for all how long those who spin wait for their core. One at a time,
 * so that a process with thousands of them keeps one file open; another takes over when it has been
 * silent. Any thread, each for itself.
 */
final class Witness {
  /** After so much spinning the times are read again. */
  static final long EVERY_NS = 10_000_000;

  /** A witness that has not spun for so long is replaced by one who does. */
  static final long SILENT_NS = 100_000_000;

  /** More than this share of the time in which it could have run, and others want its core. */
  static final int MOST_WAITED_PERCENT = 3;

  private final Cores cores;
  private final AtomicReference<Statement> current = new AtomicReference<>();

  /** What one thread has told. Its own, except what is marked. */
  private static final class Statement {
    final Thread thread;

    /** Null if nobody keeps them. */
    final RunTimes times;

    long ranNs;
    long waitedNs;
    long spunNs;

    /** When it last spun. Read by all; a late value costs a change of witness. */
    final AtomicLong heardAtNs;

    Statement(Thread thread, RunTimes times, long nowNs) {
      this.thread = thread;
      this.times = times;
      heardAtNs = new AtomicLong(nowNs);
      remember();
    }

    void remember() {
      if (times != null) {
        ranNs = times.ranNs();
        waitedNs = times.waitedNs();
      }
      spunNs = 0;
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

  /** The calling thread has spun. Reads a file now and then, and does nothing else mostly. */
  Verdict spun(long spunNs, long nowNs) {
    Thread caller = Thread.currentThread();
    Statement known = current.get();
    if (known == null || known.thread != caller) {
      if (known == null || nowNs - known.heardAtNs.getOpaque() > SILENT_NS) {
        Statement own = new Statement(caller, cores.runTimes(), nowNs);
        boolean unused = current.compareAndSet(known, own);
      }
      return Verdict.OPEN;
    }
    known.heardAtNs.setOpaque(nowNs);
    if (known.times == null) {
      return Verdict.UNTOLD;
    }
    known.spunNs += spunNs;
    return known.spunNs < EVERY_NS ? Verdict.OPEN : judge(known);
  }

  private Verdict judge(Statement known) {
    long ranBeforeNs = known.ranNs;
    long waitedBeforeNs = known.waitedNs;
    if (!known.times.read()) {
      current.compareAndSet(known, null);
      return Verdict.OPEN;
    }
    known.remember();
    long waitedNs = known.waitedNs - waitedBeforeNs;
    long couldNs = waitedNs + known.ranNs - ranBeforeNs;
    return waitedNs * 100 > couldNs * MOST_WAITED_PERCENT ? Verdict.CROWDED : Verdict.ALONE;
  }
}
