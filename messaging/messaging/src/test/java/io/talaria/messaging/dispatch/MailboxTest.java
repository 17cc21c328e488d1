// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What waits for a receiver is taken in its order, wherever it waits. */
@Timeout(120)
class MailboxTest {
  @Test
  void whatFindsNoPlaceComesBehindWhatFoundOne() throws Exception {
    int count = 1_000_000;
    AtomicInteger next = new AtomicInteger();
    AtomicReference<String> wrong = new AtomicReference<>();
    CountDownLatch all = new CountDownLatch(1);
    Handlers handlers = new Handlers("test-mailbox-", 2, 2, thrown -> wrong.set("" + thrown));
    Mailbox<Integer> mailbox =
        new Mailbox<>(
            handlers,
            each -> {
              if (each != next.getAndIncrement()) {
                wrong.compareAndSet(null, each + " after " + next);
              }
              if (next.get() == count) {
                all.countDown();
              }
            },
            4,
            1);
    int beyond = 0;
    for (int i = 0; i < count; i++) {
      if (!mailbox.offer(i)) {
        mailbox.offerBeyond(i);
        beyond++;
        while (mailbox.size() > 100) {
          Thread.onSpinWait();
        }
      }
    }
    assertThat(all.await(100, TimeUnit.SECONDS)).isTrue();
    assertThat(wrong.get()).isNull();
    assertThat(beyond).isPositive();
    assertThat(mailbox.isEmpty()).isTrue();
    handlers.stop();
  }

  @Test
  void aTurnThatThrowsIsToldAndTheNextOneBegins() throws Exception {
    AtomicInteger told = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(10);
    Handlers handlers = new Handlers("test-mailbox-", 1, 1, thrown -> told.incrementAndGet());
    Mailbox<Integer> mailbox =
        new Mailbox<>(
            handlers,
            each -> {
              all.countDown();
              throw new AssertionError("thrown by a test");
            },
            16,
            1);
    for (int i = 0; i < 10; i++) {
      assertThat(mailbox.offer(i)).isTrue();
    }
    assertThat(all.await(100, TimeUnit.SECONDS)).isTrue();
    handlers.stop();
    assertThat(handlers.awaitStopped(System.nanoTime() + 100_000_000_000L)).isTrue();
    assertThat(told.get()).isEqualTo(10);
  }

  /** With two turns in the queue two handlers would run at once, here and from then on. */
  @Test
  void aThreadThatCannotBeMadeLeavesOneTurn() {
    List<Throwable> told = new ArrayList<>();
    List<Integer> got = new ArrayList<>();
    Handlers handlers =
        new Handlers(
            number -> {
              throw new OutOfMemoryError("thrown by a test");
            },
            1,
            1,
            told::add,
            16);
    Mailbox<Integer> mailbox = new Mailbox<>(handlers, got::add, 16, 1);
    for (int i = 0; i < 3; i++) {
      assertThat(mailbox.offer(i)).isTrue();
    }
    Task turn = handlers.next();
    assertThat(turn).isSameAs(mailbox);
    assertThat(handlers.next()).as("a second turn").isNull();
    assertThat(told).hasSize(1);
    turn.turn();
    assertThat(got).containsExactly(0, 1, 2);
    assertThat(mailbox.offer(3)).isTrue();
    assertThat(handlers.next()).isSameAs(mailbox);
    assertThat(handlers.next()).isNull();
  }

  /** Whoever continues with a turn wakes nobody: so what stands behind another must not be lost. */
  @Test
  void turnsThatContinueAreRunBesideReceiversThatWait() throws Exception {
    int each = 300_000;
    CountDownLatch all = new CountDownLatch(3 * each);
    AtomicReference<Throwable> failed = new AtomicReference<>();
    Handlers handlers = new Handlers("test-mailbox-", 2, 3, failed::set);
    List<Mailbox<Integer>> mailboxes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      mailboxes.add(
          new Mailbox<>(
              handlers,
              number -> {
                if (number % 1_000 == 0) {
                  Handlers own = Handlers.beginWait();
                  LockSupport.parkNanos(100_000);
                  Handlers.endWait(own);
                }
                all.countDown();
              },
              256,
              1));
    }
    for (int number = 0; number < each; number++) {
      for (Mailbox<Integer> mailbox : mailboxes) {
        while (!mailbox.offer(number)) {
          Thread.onSpinWait();
        }
      }
    }
    assertThat(all.await(100, TimeUnit.SECONDS)).as("%d are left", all.getCount()).isTrue();
    assertThat(failed.get()).isNull();
    handlers.stop();
  }
}
