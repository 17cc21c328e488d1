// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the negotiation thread is woken, and what it does once for many. */
@Timeout(60)
class NegotiationLoopTest {
  private static final long DEADLINE_S = 20;
  private static final int ROUNDS = 3000;

  private final AtomicInteger wakeUps = new AtomicInteger();
  private final List<String> failures = new CopyOnWriteArrayList<>();
  private final AtomicInteger done = new AtomicInteger();
  private final Runnable task = done::incrementAndGet;
  private final NegotiationLoop loop =
      new NegotiationLoop(
          new CountingProvider(), new Reports((line, cause) -> failures.add(line)), () -> false);

  @AfterEach
  void nothingHasFailed() {
    assertThat(failures).isEmpty();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(DEADLINE_S, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theThreadTakesNothingFromTheOneThatNeedsItFirst() throws Exception {
    ThreadGroup group = new ThreadGroup("program");
    CompletableFuture<Thread> made = new CompletableFuture<>();
    Thread first =
        new Thread(group, () -> loop.execute(() -> made.complete(Thread.currentThread())), "first");
    first.setContextClassLoader(new URLClassLoader(new URL[0]));
    first.start();
    first.join();
    Thread thread = made.get(DEADLINE_S, TimeUnit.SECONDS);
    assertThat(group.activeCount()).isZero();
    assertThat(thread.getContextClassLoader()).isSameAs(ClassLoader.getSystemClassLoader());
    assertThat(thread.isDaemon()).isTrue();
  }

  private boolean isInterruptedInATask() throws Exception {
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    loop.execute(() -> interrupted.complete(Thread.currentThread().isInterrupted()));
    return interrupted.get(DEADLINE_S, TimeUnit.SECONDS);
  }

  @Test
  void anInterruptIsForgotten() throws Exception {
    CompletableFuture<Thread> made = new CompletableFuture<>();
    loop.execute(() -> made.complete(Thread.currentThread()));
    Thread thread = made.get(DEADLINE_S, TimeUnit.SECONDS);
    for (int i = 0; i < 100; i++) {
      thread.interrupt();
      if (i % 2 == 0) {
        // A turn that has begun keeps the interrupt; the next one does not. The class has a limit.
        while (isInterruptedInATask()) {
          Thread.onSpinWait();
        }
      }
      while (thread.isInterrupted()) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void whoIsAtWorkIsNotWoken() {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch tasks = new CountDownLatch(200); // more than are done in a turn
    loop.execute(
        () -> {
          entered.countDown();
          await(held);
        });
    await(entered);
    int before = wakeUps.get();

    for (long i = tasks.getCount(); i > 0; i--) {
      loop.execute(tasks::countDown);
    }

    assertThat(wakeUps).hasValue(before);
    held.countDown();
    await(tasks);
  }

  @Test
  void whatNobodyWaitsForWakesItOnceForMany() {
    CountDownLatch begun = new CountDownLatch(1);
    loop.execute(begun::countDown);
    await(begun);
    CountDownLatch tasks = new CountDownLatch(1000);
    int before = wakeUps.get();

    for (long i = tasks.getCount(); i > 0; i--) {
      loop.eventually(tasks::countDown);
    }

    await(tasks);
    assertThat(wakeUps.get() - before).isLessThan(100); // one, if this thread is not kept from it
  }

  /** One that comes while others are done is done with them, or has a look of its own. */
  @Test
  void nothingThatNobodyWaitsForIsForgotten() throws Exception {
    for (int round = 0; round < 3; round++) {
      CountDownLatch first = new CountDownLatch(1);
      CountDownLatch second = new CountDownLatch(1);
      loop.eventually(
          () -> {
            loop.eventually(second::countDown);
            first.countDown();
          });
      await(first);
      CountDownLatch third = new CountDownLatch(1);
      loop.eventually(third::countDown);
      await(second);
      await(third);
    }
  }

  /** Without a clock that would look for it. */
  @Test
  void aTaskThatComesWhileTheThreadFallsAsleepIsDone() throws Exception {
    Semaphore tasks = new Semaphore(0);
    for (int round = 0; round < ROUNDS; round++) {
      loop.execute(tasks::release);
      assertThat(tasks.tryAcquire(DEADLINE_S, TimeUnit.SECONDS)).as("round " + round).isTrue();
      for (int i = round % 500; i > 0; i--) {
        Thread.onSpinWait();
      }
    }
    assertThat(wakeUps).hasValueLessThanOrEqualTo(ROUNDS);
  }

  @Test
  void whatTheThreadAsksForOnceATurnIsDoneOnceAfterIt() throws Exception {
    loop.soonNs = TimeUnit.HOURS.toNanos(1);
    List<Integer> seen = new CopyOnWriteArrayList<>();
    AtomicInteger others = new AtomicInteger();
    Runnable other = others::incrementAndGet;
    for (int turn = 1; turn <= 3; turn++) {
      loop.execute(
          () -> {
            for (int i = 0; i < 5; i++) {
              loop.onceATurn(task);
              loop.onceATurn(other);
            }
            seen.add(done.get());
          });
      awaitDone(turn);
    }
    assertThat(seen).containsExactly(0, 1, 2);
    CountDownLatch end = new CountDownLatch(1);
    loop.execute(end::countDown);
    await(end);
    assertThat(done).hasValue(3);
    assertThat(others).hasValue(3);
  }

  private void awaitDone(int times) throws InterruptedException {
    long start = System.nanoTime();
    while (done.get() < times) {
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
      Thread.sleep(1);
    }
  }

  @Test
  void inALongTurnItIsDoneBeforeTheEnd() {
    loop.soonNs = -1;
    List<Integer> seen = new CopyOnWriteArrayList<>();
    CountDownLatch end = new CountDownLatch(1);
    loop.execute(
        () -> {
          for (int i = 0; i < 4; i++) {
            loop.onceATurn(task);
            seen.add(done.get());
          }
          end.countDown();
        });
    await(end);
    assertThat(seen).containsExactly(0, 1, 1, 2);
  }

  /** All that is due at once may take long. */
  @Test
  void amongWhatIsDueItIsDoneBeforeTheEnd() {
    loop.soonNs = -1;
    CountDownLatch end = new CountDownLatch(2);
    List<Integer> seen = new CopyOnWriteArrayList<>();
    loop.add(due(() -> loop.onceATurn(task)));
    loop.add(
        due(
            () -> {
              seen.add(done.get());
              end.countDown();
            }));
    loop.execute(() -> {});
    await(end);
    assertThat(seen).startsWith(1, 2);
  }

  private static NegotiationLoop.Timed due(Runnable what) {
    return new NegotiationLoop.Timed() {
      @Override
      public int tickMs(long nowNs) {
        return NegotiationLoop.FAST_TICK_MS;
      }

      @Override
      public void check(long nowNs) {
        what.run();
      }
    };
  }

  @Test
  void anotherThreadDoesItAtOnce() {
    loop.onceATurn(task);
    loop.onceATurn(task);
    assertThat(done).hasValue(2);
  }

  /** Has the JDK's selector, and counts who wakes it. */
  private final class CountingProvider extends SelectorProvider {
    private final SelectorProvider jdk = JdkNio.provider();

    @Override
    public AbstractSelector openSelector() throws IOException {
      return new CountingSelector(this, jdk.openSelector());
    }

    @Override
    public DatagramChannel openDatagramChannel() {
      throw new UnsupportedOperationException();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Pipe openPipe() {
      throw new UnsupportedOperationException();
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() {
      throw new UnsupportedOperationException();
    }

    @Override
    public SocketChannel openSocketChannel() {
      throw new UnsupportedOperationException();
    }
  }

  private final class CountingSelector extends AbstractSelector {
    private final Selector jdk;

    CountingSelector(SelectorProvider provider, Selector jdk) {
      super(provider);
      this.jdk = jdk;
    }

    @Override
    protected void implCloseSelector() throws IOException {
      jdk.close();
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attached) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SelectionKey> keys() {
      return jdk.keys();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
      return jdk.selectedKeys();
    }

    @Override
    public int selectNow() throws IOException {
      return jdk.selectNow();
    }

    @Override
    public int select(long timeoutMs) throws IOException {
      return jdk.select(timeoutMs);
    }

    @Override
    public int select() throws IOException {
      return jdk.select();
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeoutMs) throws IOException {
      return jdk.select(action, timeoutMs);
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
      return jdk.selectNow(action);
    }

    @Override
    public Selector wakeup() {
      wakeUps.incrementAndGet();
      jdk.wakeup();
      return this;
    }
  }
}
