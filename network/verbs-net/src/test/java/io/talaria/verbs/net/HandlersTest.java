// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class HandlersTest {
  @Test
  void aHundredConnectionsOnOneReceiveThreadAreAllAnswered() throws Exception {
    int connections = Provider.isDevice() ? 20 : 100;
    int rounds = 20;
    AtomicLong answered = new AtomicLong();
    NetOptions.Builder options = Pair.options().connections(connections).window(8).sendSlices(512);
    try (Pair pair = new Pair(options, (c, m) -> Pair.answer(c, m.longAt(0)))) {
      Connection[] all = new Connection[connections];
      long[] sum = new long[connections];
      for (int i = 0; i < connections; i++) {
        int at = i;
        all[i] =
            pair.connect(
                (c, m) -> {
                  sum[at] += m.longAt(0);
                  answered.incrementAndGet();
                });
      }
      for (int round = 1; round <= rounds; round++) {
        for (Connection connection : all) {
          Pair.send(connection, round, 0);
        }
        long expected = (long) round * connections;
        Pair.await("all answers", () -> answered.get() == expected);
      }
      assertThat(sum).containsOnly(rounds * (rounds + 1) / 2);
      assertThat(pair.right.metrics().connections()).isEqualTo(connections);
    }
  }

  @Test
  void aHandlerThatThrowsLosesItsConnectionAndNoOther() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    List<CloseReason> reasons = new CopyOnWriteArrayList<>();
    ConnectionHandler handler =
        new ConnectionHandler() {
          @Override
          public void message(Connection connection, Message message) {
            if (message.longAt(0) == 13) {
              throw new IllegalStateException("thirteen");
            }
            seen.incrementAndGet();
          }

          @Override
          public void closed(Connection connection, CloseReason reason) {
            reasons.add(reason);
          }
        };
    try (Pair pair = new Pair(Pair.options(), handler)) {
      Connection bad = pair.connect((c, m) -> {});
      Connection good = pair.connect((c, m) -> {});
      Pair.send(bad, 13, 0);
      assertThat(Pair.closed(bad).kind()).isEqualTo(CloseReason.Kind.PEER);
      Pair.await("the reason", () -> reasons.size() == 1);
      assertThat(reasons.getFirst().kind()).isEqualTo(CloseReason.Kind.HANDLER);
      assertThat(reasons.getFirst().text()).contains("has thrown", "thirteen");
      Pair.send(good, 1, 0);
      Pair.await("the other's message", () -> seen.get() == 1);
      assertThat(pair.right.metrics().handlerFailures()).isEqualTo(1);
    }
  }

  @Test
  void handlersMustNotWaitForTheirOwnThread() throws Exception {
    AtomicReference<String> said = new AtomicReference<>("");
    CountDownLatch done = new CountDownLatch(1);
    AtomicReference<VerbsNode> node = new AtomicReference<>();
    ConnectionHandler handler =
        (c, m) -> {
          for (Slice slice = c.borrow(); slice != null; slice = c.borrow()) {
            said.set(said.get() + "b");
          }
          assertThatThrownBy(() -> c.awaitSlice(1)).hasMessageContaining("must not wait");
          assertThatThrownBy(() -> node.get().close())
              .hasMessageContaining("cannot close its node");
          done.countDown();
        };
    NetOptions.Builder options = Pair.options().sendSlices(4);
    VerbsNode right = VerbsNode.open(options.build());
    try (VerbsNode left = VerbsNode.open(options.build())) {
      node.set(right);
      Connection connection =
          left.connect(
              right.listen(new java.net.InetSocketAddress("127.0.0.1", 0), handler), (c, m) -> {});
      Pair.send(connection, 1, 1);
      assertThat(done.await(Pair.LIMIT_NS, java.util.concurrent.TimeUnit.NANOSECONDS)).isTrue();
      assertThat(said.get()).isEqualTo("bbbb");
    } finally {
      right.close();
    }
  }

  @Test
  void aHandlerThatBlocksForGoodIsInterruptedWhenItsNodeCloses() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    AtomicReference<Throwable> interrupted = new AtomicReference<>();
    ConnectionHandler handler =
        (c, m) -> {
          inside.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.set(e);
          }
        };
    try (Pair pair = new Pair(Pair.options().lingerMs(0), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      Pair.send(connection, 1, 1);
      inside.await();
      pair.right.close();
      assertThat(interrupted.get()).isInstanceOf(InterruptedException.class);
      assertThat(pair.right.metrics().blockedHandlers()).isPositive();
    }
  }

  /** An error that the logger throws stands for one of the JVM, such as that memory is short. */
  @Test
  void anErrorDoesNotEndTheLooksOfEachSecond() throws Exception {
    Handler failing =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            String text = line.getMessage();
            if (text.contains("is in a handler for") || text.contains("looking at the device")) {
              throw new OutOfMemoryError("by the test");
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger("io.talaria.verbs.net");
    logger.addHandler(failing);
    AtomicBoolean enough = new AtomicBoolean();
    ConnectionHandler handler = (c, m) -> Pair.await("the end of the test", enough::get);
    try (Pair pair = new Pair(Pair.options(), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      Pair.send(connection, 1, 1);
      try {
        Pair.await("a second look", () -> pair.right.metrics().blockedHandlers() >= 2);
      } finally {
        enough.set(true);
      }
    } finally {
      logger.removeHandler(failing);
    }
  }

  @Test
  void whenSlicesAreExhaustedBorrowersAreRefusedAndThenCalled() throws Exception {
    AtomicInteger writable = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    ConnectionHandler handler =
        new ConnectionHandler() {
          @Override
          public void message(Connection connection, Message message) {}

          @Override
          public void writable(Connection connection) {
            writable.incrementAndGet();
          }
        };
    try (Pair pair = new Pair(Pair.options().sendSlices(4), (c, m) -> seen.incrementAndGet())) {
      Connection connection = pair.connect(handler);
      Slice[] all = new Slice[4];
      for (int i = 0; i < 4; i++) {
        all[i] = connection.borrow();
        assertThat(all[i]).isNotNull();
      }
      assertThat(connection.borrow()).isNull();
      assertThat(connection.awaitSlice(1_000_000)).isNull();
      assertThat(pair.left.metrics().sliceStalls()).isEqualTo(1);
      assertThat(pair.left.metrics().slicesOut()).isEqualTo(4);
      assertThat(connection.send(all[0], 8)).isEqualTo(Connection.SENT);
      Pair.await("the call", () -> writable.get() == 1);
      assertThat(connection.awaitSlice(Pair.LIMIT_NS)).isSameAs(all[0]);
      assertThat(connection.borrow()).isNull();
      for (Slice slice : all) {
        slice.release();
      }
      Pair.await("the next call", () -> writable.get() == 2);
      Pair.await("the message", () -> seen.get() == 1);
    }
  }
}
