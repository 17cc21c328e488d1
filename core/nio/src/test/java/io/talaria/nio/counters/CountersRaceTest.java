// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Records change hands while others count and read. */
@Timeout(120)
class CountersRaceTest {
  private static final int ROUNDS = 20_000;

  /** The writer may be stopped in the middle of a description, on a machine that is busy. */
  private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(20);

  @TempDir Path dir;

  @Test
  void aReaderNeverSeesHalfADescription() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger seen = new AtomicInteger();
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      Future<?> writer =
          threads.submit(
              () -> {
                for (int i = 0; i < ROUNDS || (seen.get() == 0 && !Thread.interrupted()); i++) {
                  int port = 1 + i % 60_000;
                  InetSocketAddress address = new InetSocketAddress("127.0.0.1", port);
                  ConnectionCounters connection =
                      counters.connection(Role.CLIENT, address, address);
                  connection.transport(NioTransport.SHM, Reason.SAME_HOST, "port " + port);
                  connection.rings(port, port);
                  connection.close();
                }
                done.set(true);
              });
      while (!done.get()) {
        ProcessInfo read = CountersReader.read(counters.path(), SETTLE_NS);
        assertThat(read.damaged()).isZero();
        for (ConnectionInfo connection : read.connections()) {
          seen.incrementAndGet();
          int port = connection.local().getPort();
          assertThat(connection.remote().getPort()).isEqualTo(port);
          assertThat(connection.detail()).isIn("", "port " + port);
          assertThat(connection.ringInBytes()).isIn(0, port).isEqualTo(connection.ringOutBytes());
        }
      }
      writer.get(60, TimeUnit.SECONDS);
      assertThat(seen).as("connections seen while they changed").hasPositiveValue();
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void totalsNeverGoBack() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean done = new AtomicBoolean();
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      Future<?> closing =
          threads.submit(
              () -> {
                for (int i = 0; i < 300; i++) {
                  ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
                  connection.acceleratedIn(1 << 20);
                  LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                  connection.close();
                }
                done.set(true);
              });
      long before = 0;
      while (!done.get()) {
        long now = CountersReader.read(counters.path()).totals().acceleratedInBytes();
        assertThat(now).isGreaterThanOrEqualTo(before);
        before = now;
      }
      closing.get(60, TimeUnit.SECONDS);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void nothingIsLostBetweenTwoDirectionsAndAFileThatComesLate() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    ExecutorService fileWork = Executors.newSingleThreadExecutor();
    try {
      for (int round = 0; round < 20; round++) {
        try (ProcessCounters counters = ProcessCounters.open(dir, fileWork)) {
          ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
          List<Future<?>> counting = new ArrayList<>();
          counting.add(threads.submit(() -> repeat(() -> connection.acceleratedIn(3))));
          counting.add(threads.submit(() -> repeat(() -> connection.acceleratedOut(5))));
          counting.add(threads.submit(() -> repeat(connection::wakeupSent)));
          counting.add(threads.submit(() -> repeat(connection::wakeupSent)));
          for (Future<?> one : counting) {
            one.get(60, TimeUnit.SECONDS);
          }
          fileWork.submit(() -> {}).get(60, TimeUnit.SECONDS);
          // Each count is stored whole by the next one, whichever thread was late before.
          connection.acceleratedIn(0);
          connection.acceleratedOut(0);
          connection.wakeupSent();

          ConnectionInfo read = CountersReader.read(counters.path()).connections().get(0);

          assertThat(read).isEqualTo(connection.info());
          assertThat(read.acceleratedInBytes()).isEqualTo(3L * ROUNDS);
          assertThat(read.acceleratedOutBytes()).isEqualTo(5L * ROUNDS);
          assertThat(read.wakeupsSent()).isEqualTo(2L * ROUNDS + 1);
        }
      }
    } finally {
      threads.shutdownNow();
      fileWork.shutdownNow();
    }
  }

  private static void repeat(Runnable count) {
    for (int i = 0; i < ROUNDS; i++) {
      count.run();
    }
  }
}
