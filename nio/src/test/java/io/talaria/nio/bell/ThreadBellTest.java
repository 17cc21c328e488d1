// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.bell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bells on which threads sleep, this process being its own peer. */
@Timeout(60)
class ThreadBellTest {
  private static final long PID = ProcessHandle.current().pid();
  private static final long DEADLINE_S = 20;
  private static final int MOST = 8;

  private final BellPool pool = new BellPool(MOST);
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger missed = new AtomicInteger();
  private final BellAudit audit =
      new BellAudit(pool, begun::incrementAndGet, missed::incrementAndGet);

  /** Whether there is news for whoever sleeps. */
  private volatile boolean news;

  private final ThreadBell.Sleeper sleeper =
      new ThreadBell.Sleeper() {
        @Override
        public BellAudit audit() {
          return audit;
        }

        @Override
        public boolean ready(int waitsFor) {
          return news;
        }
      };

  /** A thread that sleeps on a bell, and whether it was rung. */
  private final class Sleep {
    private final FutureTask<Boolean> sleeping;
    private final Thread thread;

    Sleep(ThreadBell bell, long limitNs) throws InterruptedException {
      sleeping = new FutureTask<>(() -> bell.sleep(sleeper, 1, limitNs));
      thread = new Thread(sleeping, "sleeper");
      thread.start();
      long start = System.nanoTime();
      while (bell.asleep() == 0 && !sleeping.isDone()) {
        assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
        Thread.sleep(1);
      }
    }

    boolean rung() throws Exception {
      return sleeping.get(DEADLINE_S, TimeUnit.SECONDS);
    }
  }

  // ---- the pool

  @Test
  void theBellOfTheLastSleepIsLeasedFirst() {
    ThreadBell first = pool.lease(null);
    ThreadBell second = pool.lease(null);
    assertThat(second).isNotSameAs(first);
    first.giveBack();
    second.giveBack();

    assertThat(pool.lease(second)).isSameAs(second);
    assertThat(pool.lease(second)).as("the first that is free").isSameAs(first);
  }

  @Test
  void threadsGetHalfOfAllAndKeepOnlyTheFirstHalfOfThemWithoutNeed() {
    List<ThreadBell> leased = new ArrayList<>();
    for (ThreadBell bell = pool.lease(null); bell != null; bell = pool.lease(null)) {
      assertThat(bell.number()).isEqualTo(leased.size());
      assertThat(pool.forThreads(bell.number())).isSameAs(bell);
      assertThat(pool.plenty(bell)).isEqualTo(bell.number() < MOST / 4);
      leased.add(bell);
    }
    assertThat(leased).hasSize(MOST / 2);
    assertThat(pool.descriptors()).isEqualTo(3 * leased.size());

    leased.get(1).giveBack();
    long start = System.nanoTime();
    ThreadBell again = null;
    while (again == null) { // for a moment there is none
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
      again = pool.lease(null);
    }
    assertThat(again).isSameAs(leased.get(1));
    assertThat(pool.lease()).as("a selector's").isNotNull();
  }

  @Test
  void threadsTakeWhatSelectorsHaveLeftWhenThereAreNoMore() {
    BellPool small = new BellPool(4);
    List<Bell> ofSelectors = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ofSelectors.add(small.lease());
    }
    assertThat(small.lease(null)).as("all are leased").isNull();
    ofSelectors.forEach(small::giveBack);
    long start = System.nanoTime();
    while (small.lease(null) == null) { // for a moment there is none
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
    }
  }

  @Test
  void thePoolOfAProcessWithFewDescriptorsLendsNone() {
    assertThat(new BellPool(0).lease(null)).isNull();
    assertThat(new BellPool(1).lease(null)).isNull();
  }

  // ---- sleeping

  @Test
  void aPeerWakesASleeperAndWhatItRangIsTakenWithThat() throws Exception {
    ThreadBell bell = pool.lease(null);
    PeerBell opened = PeerBell.open(PID, bell.address());
    Sleep sleep = new Sleep(bell, 0);

    assertThat(opened.ring()).isTrue();

    assertThat(sleep.rung()).isTrue();
    assertThat(bell.rung()).isFalse();
    opened.close();
  }

  @Test
  void whatWasRungBeforeEndsTheSleepAtOnce() throws Exception {
    ThreadBell bell = pool.lease(null);
    bell.ring();
    bell.ring();
    assertThat(bell.rung()).isTrue();

    assertThat(new Sleep(bell, 0).rung()).isTrue();

    assertThat(bell.rung()).as("taken together").isFalse();
  }

  @Test
  void aSleepWithALimitEndsThenOrWhenItIsRung() throws Exception {
    ThreadBell bell = pool.lease(null);
    assertThat(new Sleep(bell, TimeUnit.MILLISECONDS.toNanos(20)).rung()).isFalse();

    Sleep longer = new Sleep(bell, TimeUnit.HOURS.toNanos(1));
    bell.ring();

    assertThat(longer.rung()).isTrue();
    assertThat(bell.rung()).isFalse();
  }

  @Test
  void anInterruptNeitherEndsASleepNorHurtsTheBell() throws Exception {
    ThreadBell bell = pool.lease(null);
    PeerBell opened = PeerBell.open(PID, bell.address());
    for (long limitNs : new long[] {0, TimeUnit.HOURS.toNanos(1)}) {
      Sleep sleep = new Sleep(bell, limitNs);
      sleep.thread.interrupt();
      Thread.sleep(50);
      assertThat(bell.asleep()).as("interrupted").isNotZero();

      assertThat(opened.ring()).isTrue();

      assertThat(sleep.rung()).isTrue();
    }
    Thread.currentThread().interrupt(); // nor does one of whoever makes one, or rings
    ThreadBell another = pool.lease(null);
    another.ring();
    boolean rung = another.sleep(sleeper, 1, 0);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(rung).isTrue();
    opened.close();
  }

  @Test
  void aFullBellWakesUntilItIsDrained() throws Exception {
    ThreadBell bell = pool.lease(null);
    PeerBell opened = PeerBell.open(PID, bell.address());
    int left = 0;
    while (opened.ring()) {
      left++;
    }
    bell.ring(); // blocks nobody
    while (left > 0) {
      assertThat(new Sleep(bell, 0).rung()).isTrue();
      left -= Bell.DRAINED_BYTES;
    }
    assertThat(bell.rung()).isFalse();
    assertThat(opened.ring()).isTrue();
    opened.close();
  }

  // ---- the audit

  @Test
  void aSleeperWithNewsWhomNobodyRingsIsFoundAtTheThirdLook() throws Exception {
    ThreadBell bell = pool.lease(null);
    assertThat(audit.resting()).isTrue();
    Sleep sleep = new Sleep(bell, 0);
    assertThat(audit.resting()).isFalse();
    assertThat(begun).hasValue(1);
    long before = BellAudit.missed();

    assertThat(audit.look()).isEqualTo(BellAudit.OTHERS);
    assertThat(audit.look()).isEqualTo(BellAudit.THE_SAME);
    news = true;
    assertThat(audit.look()).as("it may just be on its way").isEqualTo(BellAudit.OTHERS);
    assertThat(missed).hasValue(0);
    assertThat(audit.look()).isEqualTo(BellAudit.OTHERS);

    assertThat(sleep.rung()).isTrue();
    assertThat(missed).hasValue(1);
    assertThat(BellAudit.missed() - before).isEqualTo(1);
    assertThat(audit.look()).isEqualTo(BellAudit.NOBODY);
    assertThat(audit.resting()).isTrue();
  }

  @Test
  void whoSleepsForNothingIsLeftAlone() throws Exception {
    ThreadBell bell = pool.lease(null);
    Sleep sleep = new Sleep(bell, 0);
    for (int i = 0; i < 5; i++) {
      int unused = audit.look();
    }
    assertThat(missed).hasValue(0);
    assertThat(bell.asleep()).isNotZero();
    bell.ring();
    assertThat(sleep.rung()).isTrue();
  }

  @Test
  void anotherSleepOnTheSameBellIsNotTakenForTheFormer() throws Exception {
    ThreadBell bell = pool.lease(null);
    news = true; // always only just come
    for (int i = 0; i < 5; i++) {
      Sleep sleep = new Sleep(bell, 0);
      int unusedFirst = audit.look();
      int unusedSecond = audit.look();
      bell.ring();
      assertThat(sleep.rung()).isTrue();
    }
    assertThat(missed).hasValue(0);
  }

  @Test
  void thoseOfOthersAreLeftToThem() throws Exception {
    ThreadBell bell = pool.lease(null);
    Sleep sleep = new Sleep(bell, 0);
    BellAudit other = new BellAudit(pool, () -> {}, missed::incrementAndGet);
    news = true;
    for (int i = 0; i < 5; i++) {
      assertThat(other.look()).isEqualTo(BellAudit.NOBODY);
    }
    assertThat(missed).hasValue(0);
    bell.ring();
    assertThat(sleep.rung()).isTrue();
  }
}
