// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NeedsUcx.class)
@Timeout(120)
class ThreadsTest {
  private static final int THREADS = 4;
  private static final long NUMBERS = 20_000;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void manyThreadsTakeTurnsWithSharedWorkers(boolean virtual) throws Exception {
    try (Context context = Pair.context(Feature.STREAM);
        Arena arena = Arena.ofShared();
        ExecutorService threads =
            virtual
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Executors.newFixedThreadPool(THREADS)) {
      Worker left = Worker.open(context, Worker.Options.defaults().threads(ThreadMode.SERIALIZED));
      Worker right = Worker.open(context, Worker.Options.defaults().threads(ThreadMode.SERIALIZED));
      right.enter();
      WorkerAddress rightAddress = right.address();
      right.exit();
      left.enter();
      WorkerAddress leftAddress = left.address();
      Endpoint there = left.connect(Endpoint.Options.to(rightAddress));
      left.exit();
      right.enter();
      Endpoint here = right.connect(Endpoint.Options.to(leftAddress));
      right.exit();
      Exchange exchange = new Exchange(there, here, arena.allocate(8));
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(threads.submit(exchange));
      }
      for (Future<?> one : running) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(exchange.received.get()).isEqualTo(NUMBERS);
      right.close();
      left.close();
    }
  }

  /** Sends numbers one way; each receiver checks that it is the next. */
  private static final class Exchange implements Runnable {
    private final Endpoint there;
    private final Endpoint here;
    private final MemorySegment buffer;
    private final AtomicLong received = new AtomicLong();
    private final StreamChunk chunk = new StreamChunk();
    private long sent;
    private long pending;

    Exchange(Endpoint there, Endpoint here, MemorySegment buffer) {
      this.there = there;
      this.here = here;
      this.buffer = buffer;
    }

    @Override
    public void run() {
      while (received.get() < NUMBERS) {
        send();
        receive();
      }
    }

    private void send() {
      Worker worker = there.worker();
      worker.enter();
      try {
        worker.progress();
        if (pending > 0 && worker.poll(pending) != Status.IN_PROGRESS) {
          pending = 0;
        }
        while (pending == 0 && sent < NUMBERS) {
          buffer.set(ValueLayout.JAVA_LONG, 0, sent++);
          pending = there.sendStream(buffer, 0, 8, 0);
          if (pending < 0) {
            throw new AssertionError(Status.text((int) pending));
          }
          if ((sent & 63) == 0) {
            break;
          }
        }
      } finally {
        worker.exit();
      }
    }

    private void receive() {
      Worker worker = here.worker();
      if (!worker.tryEnter()) {
        return;
      }
      try {
        worker.progress();
        while (here.receiveStream(chunk) > 0) {
          for (long at = 0; at < chunk.length(); at += 8) {
            if (chunk.longAt(at) != received.getAndIncrement()) {
              throw new AssertionError("number " + received + " is " + chunk.longAt(at));
            }
          }
          chunk.release();
        }
      } finally {
        worker.exit();
      }
    }
  }

  @Test
  void eachThreadHasAWorkerOfItsOwn() throws Exception {
    assertThat(Ucx.maxThreadMode()).isNotNull();
    try (Context context = Pair.context(Feature.TAG);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<Long>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(threads.submit(() -> talkToOneself(context)));
      }
      for (Future<Long> one : running) {
        assertThat(one.get(60, TimeUnit.SECONDS)).isEqualTo(1000);
      }
    }
  }

  private static long talkToOneself(Context context) {
    long count = 0;
    try (Worker worker = Worker.open(context, Worker.Options.defaults());
        Arena arena = Arena.ofConfined()) {
      Endpoint self = worker.connect(Endpoint.Options.to(worker.address()));
      MemorySegment buffer = arena.allocate(200);
      while (count < 1000) {
        long receive = worker.receiveTag(buffer, 100, 100, count, -1);
        int sent = worker.await(self.sendTag(buffer, 0, 100, count, 0), Pair.LIMIT_NS);
        int received = worker.await(receive, Pair.LIMIT_NS);
        if (sent != Status.OK || received != Status.OK) {
          throw new AssertionError(sent + " " + received);
        }
        count++;
      }
    }
    return count;
  }
}
