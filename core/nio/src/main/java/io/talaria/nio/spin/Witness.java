// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One thread that spins tells for all whether spinning pays. One at a time, so that a process with
 * thousands of them reads one file now and then; another takes over when it has been silent. Any
 * thread, each for itself.
 */
final class Witness {
  /** After so much spinning it is settled, if the last while did not pay, or is the first. */
  static final long EVERY_NS = 10_000_000;

  /** While it pays, the time doubles up to this. */
  static final long CALM_EVERY_NS = 160_000_000;

  /** After so much spinning it is settled if a spin was late. */
  static final long LATE_EVERY_NS = 1_000_000;

  /** A witness that has not spun for so long is replaced by a thread that does. */
  static final long SILENT_NS = 100_000_000;

  private final Cores cores;
  private final AtomicReference<Statement> current = new AtomicReference<>();

  /** What one thread has reported. Its own, except what is marked. */
  private static final class Statement {
    final Thread thread;
    final Account account = new Account();

    /** How long it had run, and how long it had waited, when the while began. */
    final long[] times = new long[2];

    /** Whether the system reports these. */
    boolean timesKnown;

    /** Whether the next spin begins a while: the last has not paid, and a rest came after it. */
    boolean ended;

    long beganNs;
    long lucky;
    long spunNs;
    long lateNs;

    /** After how much spinning it is settled. */
    long everyNs = EVERY_NS;

    /** When it last spun. Read by all; a late value costs a change of witness. */
    final AtomicLong heardAtNs;

    Statement(Thread thread, long nowNs) {
      this.thread = thread;
      heardAtNs = new AtomicLong(nowNs);
    }

    void begin(long nowNs) {
      ended = false;
      beganNs = nowNs;
      lucky = 0;
      spunNs = 0;
      lateNs = 0;
    }
  }

  /** What a spin has brought to light. */
  enum Verdict {
    /** Not yet known. */
    OPEN,
    /** Spins with luck have saved more than waiting for the core has cost. */
    PAYS,
    /** They have not: others want the cores. */
    LOSES
  }

  Witness(Cores cores) {
    this.cores = cores;
  }

  /**
   * The calling thread has spun. Reads a file now and then, and does nothing else mostly.
   *
   * @param spunNs for how long it has run meanwhile
   * @param lateNs for how long it has not, as far as the clock tells
   * @param found whether the spin had luck
   */
  Verdict spun(long spunNs, long lateNs, boolean found, long nowNs) {
    Thread caller = Thread.currentThread();
    Statement known = current.get();
    if (known == null || known.thread != caller) {
      if (known == null || nowNs - known.heardAtNs.getOpaque() > SILENT_NS) {
        Statement own = new Statement(caller, nowNs);
        own.timesKnown = cores.runTimes(own.times);
        own.begin(nowNs);
        current.compareAndSet(known, own);
      }
      return Verdict.OPEN;
    }
    known.heardAtNs.setOpaque(nowNs);
    if (known.ended) {
      known.timesKnown = known.timesKnown && cores.runTimes(known.times);
      known.begin(nowNs);
      return Verdict.OPEN;
    }
    known.lucky += found ? 1 : 0;
    known.spunNs += spunNs;
    known.lateNs += lateNs;
    long everyNs = known.lateNs > 0 ? LATE_EVERY_NS : known.everyNs;
    return known.spunNs < everyNs ? Verdict.OPEN : settle(known, nowNs);
  }

  private Verdict settle(Statement known, long nowNs) {
    long[] times = known.times;
    long ranBeforeNs = times[0];
    long waitedBeforeNs = times[1];
    known.timesKnown = known.timesKnown && cores.runTimes(times);
    long ranNs = known.timesKnown ? times[0] - ranBeforeNs : known.spunNs;
    long waitedNs = known.timesKnown ? times[1] - waitedBeforeNs : known.lateNs;
    // A virtual thread that spins, as in a select, may have changed the thread that carries it.
    boolean mixedUp = ranNs < 0 || waitedNs < 0 || waitedNs > nowNs - known.beganNs + EVERY_NS;
    if (mixedUp) {
      known.begin(nowNs);
      return Verdict.OPEN;
    }
    boolean pays = known.account.pays(known.lucky, known.spunNs, ranNs, waitedNs);
    known.begin(nowNs);
    known.ended = !pays;
    known.everyNs = pays ? Math.min(CALM_EVERY_NS, 2 * known.everyNs) : EVERY_NS;
    return pays ? Verdict.PAYS : Verdict.LOSES;
  }
}
