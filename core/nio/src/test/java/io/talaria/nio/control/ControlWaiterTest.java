// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.jdk.JdkNio;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that is woken returns, wherever the wake-up finds it. */
@Timeout(60)
class ControlWaiterTest {
  private static final long DEADLINE_S = 20;

  private final ExecutorService repeating = Executors.newSingleThreadExecutor();
  private final AtomicBoolean over = new AtomicBoolean();
  private Pipe pipe;

  @BeforeEach
  void open() throws Exception {
    pipe = Pipe.open();
    pipe.source().configureBlocking(false);
  }

  @AfterEach
  void close() throws Exception {
    repeating.shutdown();
    assertThat(repeating.awaitTermination(DEADLINE_S, TimeUnit.SECONDS)).isTrue();
    pipe.source().close();
    pipe.sink().close();
  }

  private void repeat(BooleanSupplier done) {
    repeating.execute(
        () -> {
          while (!done.getAsBoolean()) {
            Thread.yield();
          }
        });
  }

  private static <T> FutureTask<T> started(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    new Thread(task, "sleeper").start();
    return task;
  }

  private static <T> T result(FutureTask<T> task) throws Exception {
    return task.get(DEADLINE_S, TimeUnit.SECONDS);
  }

  /** The signal comes when the sleeper has looked, and has not come to its system call yet. */
  @Test
  void aWakeUpBetweenTheLookAndThePollIsNotLost() throws Exception {
    ControlWaiter[] waiter = {null};
    AtomicInteger looks = new AtomicInteger();
    waiter[0] =
        new ControlWaiter(
            pipe.source(),
            (who, event) -> {
              if (looks.getAndIncrement() == 0) {
                Thread waker = new Thread(() -> waiter[0].wake(ControlWaiter.READER), "waker");
                waker.start();
                try {
                  waker.join();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              }
              return false; // as if it had looked just before that
            },
            this::repeat);

    FutureTask<Boolean> sleeper =
        started(() -> waiter[0].sleep(ControlWaiter.READER, JdkNio.READABLE, 0));

    assertThat(result(sleeper)).isTrue();
  }

  @Test
  void whoeverAwaitsTheSleepersFindsNobodyAtTheDescriptor() throws Exception {
    ControlWaiter waiter =
        new ControlWaiter(pipe.source(), (who, event) -> over.get(), this::repeat);
    for (int i = 0; i < 200; i++) {
      over.set(false);
      FutureTask<Boolean> reader =
          started(() -> waiter.sleep(ControlWaiter.READER, JdkNio.READABLE, 0));
      FutureTask<Boolean> writer =
          started(() -> waiter.sleep(ControlWaiter.WRITER, JdkNio.READABLE, 0));
      over.set(true);

      waiter.wakeAllAndAwait();

      result(reader);
      result(writer);
    }
  }

  /** A leader that leaves makes place for the one that parked because of it. */
  @Test
  void theSecondSleeperTakesThePlaceOfTheFirst() throws Exception {
    ControlWaiter waiter = new ControlWaiter(pipe.source(), (who, event) -> false, this::repeat);
    FutureTask<Boolean> reader =
        started(() -> waiter.sleep(ControlWaiter.READER, JdkNio.READABLE, 0));
    FutureTask<Boolean> writer =
        started(
            () -> {
              while (!waiter.sleep(ControlWaiter.WRITER, JdkNio.READABLE, 0)) {
                Thread.onSpinWait();
              }
              return true;
            });
    int n = pipe.sink().write(ByteBuffer.allocate(1));
    assertThat(n).isEqualTo(1);

    assertThat(result(writer)).isTrue();
    waiter.wakeAllAndAwait();
    result(reader);
  }

  @Test
  void aThreadThatHasEndedIsNotSignalled() throws Exception {
    ControlWaiter waiter =
        new ControlWaiter(pipe.source(), (who, event) -> over.get(), this::repeat);
    for (int i = 0; i < 300; i++) {
      over.set(false);
      long limitNs = 1_000 + i * 100L;
      FutureTask<Boolean> reader =
          started(() -> waiter.sleep(ControlWaiter.READER, JdkNio.READABLE, limitNs));
      while (!reader.isDone()) {
        waiter.wake(ControlWaiter.READER);
      }
      result(reader);
    }
  }
}
