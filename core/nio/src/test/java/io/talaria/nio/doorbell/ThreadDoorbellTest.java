// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Doorbells on which threads sleep, this process being its own peer. */
@Timeout(60)
class ThreadDoorbellTest {
  private static final long PID = ProcessHandle.current().pid();
  private static final long DEADLINE_S = 20;
  private static final int MAX_DOORBELLS = 8;

  private final DoorbellPool pool = new DoorbellPool(MAX_DOORBELLS);
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger missed = new AtomicInteger();

  /** What a thread does that falls asleep, before it reads the pipe. */
  private volatile Runnable fallingAsleep = begun::incrementAndGet;

  private final DoorbellAudit audit =
      new DoorbellAudit(pool, () -> fallingAsleep.run(), missed::incrementAndGet);

  /** Whether there is news for the sleeping thread. */
  private volatile boolean news;

  private final ThreadDoorbell.Sleeper sleeper =
      new ThreadDoorbell.Sleeper() {
        @Override
        public DoorbellAudit audit() {
          return audit;
        }

        @Override
        public boolean ready(int waitsFor) {
          return news;
        }
      };

  /** A thread that sleeps on a doorbell, and whether it was rung. */
  private final class Sleep {
    private final FutureTask<Boolean> sleeping;
    private final Thread thread;

    Sleep(ThreadDoorbell doorbell, long limitNs) throws InterruptedException {
      sleeping = new FutureTask<>(() -> doorbell.sleep(sleeper, 1, limitNs));
      thread = new Thread(sleeping, "sleeper");
      thread.start();
      long start = System.nanoTime();
      while (doorbell.asleep() == 0 && !sleeping.isDone()) {
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
  void theDoorbellOfTheLastSleepIsLeasedFirst() {
    ThreadDoorbell first = pool.lease(null);
    ThreadDoorbell second = pool.lease(null);
    assertThat(second).isNotSameAs(first);
    first.giveBack();
    second.giveBack();

    assertThat(pool.lease(second)).isSameAs(second);
    assertThat(pool.lease(second)).as("the first that is free").isSameAs(first);
  }

  @Test
  void threadsGetHalfOfAllAndKeepOnlyTheFirstHalfOfThemWithoutNeed() {
    List<ThreadDoorbell> leased = new ArrayList<>();
    for (ThreadDoorbell doorbell = pool.lease(null);
        doorbell != null;
        doorbell = pool.lease(null)) {
      assertThat(doorbell.number()).isEqualTo(leased.size());
      assertThat(pool.forThreads(doorbell.number())).isSameAs(doorbell);
      assertThat(pool.plenty(doorbell)).isEqualTo(doorbell.number() < MAX_DOORBELLS / 4);
      leased.add(doorbell);
    }
    assertThat(leased).hasSize(MAX_DOORBELLS / 2);
    assertThat(pool.descriptors()).isEqualTo(3 * leased.size());

    leased.get(1).giveBack();
    long start = System.nanoTime();
    ThreadDoorbell again = null;
    while (again == null) { // for a moment there is none
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
      again = pool.lease(null);
    }
    assertThat(again).isSameAs(leased.get(1));
    assertThat(pool.lease()).as("a selector's").isNotNull();
  }

  @Test
  void threadsTakeWhatSelectorsHaveLeftWhenThereAreNoMore() {
    DoorbellPool small = new DoorbellPool(4);
    List<Doorbell> ofSelectors = new ArrayList<>();
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
    assertThat(new DoorbellPool(0).lease(null)).isNull();
    assertThat(new DoorbellPool(1).lease(null)).isNull();
  }

  // ---- sleeping

  @Test
  void aPeerWakesASleeperAndWhatItRangIsTakenWithThat() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    PeerDoorbell opened = PeerDoorbell.open(PID, doorbell.address());
    Sleep sleep = new Sleep(doorbell, 0);

    assertThat(opened.ring()).isTrue();

    assertThat(sleep.rung()).isTrue();
    assertThat(doorbell.rung()).isFalse();
    opened.close();
  }

  @Test
  void whatWasRungBeforeEndsTheSleepAtOnce() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    doorbell.ring();
    doorbell.ring();
    assertThat(doorbell.rung()).isTrue();

    assertThat(new Sleep(doorbell, 0).rung()).isTrue();

    assertThat(doorbell.rung()).as("taken together").isFalse();
  }

  @Test
  void aSleepWithALimitEndsThenOrWhenItIsRung() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    assertThat(new Sleep(doorbell, TimeUnit.MILLISECONDS.toNanos(20)).rung()).isFalse();

    Sleep longer = new Sleep(doorbell, TimeUnit.HOURS.toNanos(1));
    doorbell.ring();

    assertThat(longer.rung()).isTrue();
    assertThat(doorbell.rung()).isFalse();
  }

  @Test
  void anInterruptNeitherEndsASleepNorHurtsTheDoorbell() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    PeerDoorbell opened = PeerDoorbell.open(PID, doorbell.address());
    for (long limitNs : new long[] {0, TimeUnit.HOURS.toNanos(1)}) {
      Sleep sleep = new Sleep(doorbell, limitNs);
      sleep.thread.interrupt();
      Thread.sleep(50);
      assertThat(doorbell.asleep()).as("interrupted").isNotZero();

      assertThat(opened.ring()).isTrue();

      assertThat(sleep.rung()).isTrue();
    }
    Thread.currentThread()
        .interrupt(); // nor does an interrupt of the thread that makes one, or rings
    ThreadDoorbell another = pool.lease(null);
    another.ring();
    boolean rung = another.sleep(sleeper, 1, 0);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(rung).isTrue();
    opened.close();
  }

  @Test
  void aFullDoorbellWakesUntilItIsDrained() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    PeerDoorbell opened = PeerDoorbell.open(PID, doorbell.address());
    int left = 0;
    while (opened.ring()) {
      left++;
    }
    doorbell.ring(); // blocks nobody
    while (left > 0) {
      assertThat(new Sleep(doorbell, 0).rung()).isTrue();
      left -= Doorbell.DRAINED_BYTES;
    }
    assertThat(doorbell.rung()).isFalse();
    assertThat(opened.ring()).isTrue();
    opened.close();
  }

  // ---- the audit

  @Test
  void aSleeperWithNewsWhomNobodyRingsIsFoundAtTheThirdLook() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    assertThat(audit.resting()).isTrue();
    Sleep sleep = new Sleep(doorbell, 0);
    assertThat(audit.resting()).isFalse();
    assertThat(begun).hasValue(1);
    long before = DoorbellAudit.missed();

    assertThat(audit.look()).isEqualTo(DoorbellAudit.OTHERS);
    assertThat(audit.look()).isEqualTo(DoorbellAudit.THE_SAME);
    news = true;
    assertThat(audit.look()).as("it may just be on its way").isEqualTo(DoorbellAudit.OTHERS);
    assertThat(missed).hasValue(0);
    assertThat(audit.look()).isEqualTo(DoorbellAudit.OTHERS);

    assertThat(sleep.rung()).isTrue();
    assertThat(missed).hasValue(1);
    assertThat(DoorbellAudit.missed() - before).isEqualTo(1);
    assertThat(audit.look()).isEqualTo(DoorbellAudit.NOBODY);
    assertThat(audit.resting()).isTrue();
  }

  @Test
  void whoWasRungAndHasTakenItAtTheNextLookHasMissedNothing() throws Exception {
    Semaphore core = new Semaphore(0);
    fallingAsleep = core::acquireUninterruptibly;
    ThreadDoorbell doorbell = pool.lease(null);
    Sleep sleep = new Sleep(doorbell, 0);
    audit.look();
    news = true;
    doorbell.ring();
    audit.look();
    try (FileInputStream in =
        new FileInputStream(OpenDescriptors.ownPath(doorbell.address().descriptor()).toFile())) {
      assertThat(in.read()).isNotNegative(); // instead of the thread, which is still asleep
    }
    audit.look();
    assertThat(missed).hasValue(0);
    core.release();
    doorbell.ring();
    assertThat(sleep.rung()).isTrue();
  }

  @Test
  void whoSleepsForNothingIsLeftAlone() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    Sleep sleep = new Sleep(doorbell, 0);
    for (int i = 0; i < 5; i++) {
      audit.look();
    }
    assertThat(missed).hasValue(0);
    assertThat(doorbell.asleep()).isNotZero();
    doorbell.ring();
    assertThat(sleep.rung()).isTrue();
  }

  @Test
  void anotherSleepOnTheSameDoorbellIsNotTakenForTheFormer() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    news = true; // always only just come
    for (int i = 0; i < 5; i++) {
      Sleep sleep = new Sleep(doorbell, 0);
      audit.look();
      audit.look();
      doorbell.ring();
      assertThat(sleep.rung()).isTrue();
    }
    assertThat(missed).hasValue(0);
  }

  @Test
  void thoseOfOthersAreLeftToThem() throws Exception {
    ThreadDoorbell doorbell = pool.lease(null);
    Sleep sleep = new Sleep(doorbell, 0);
    DoorbellAudit other = new DoorbellAudit(pool, () -> {}, missed::incrementAndGet);
    news = true;
    for (int i = 0; i < 5; i++) {
      assertThat(other.look()).isEqualTo(DoorbellAudit.NOBODY);
    }
    assertThat(missed).hasValue(0);
    doorbell.ring();
    assertThat(sleep.rung()).isTrue();
  }
}
