// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What other threads do to a selector and its keys while it selects, and to each other. */
class SelectorRaceContractTest extends Contract {
  private static final long SOON_MS = 10_000;

  SelectorRaceContractTest(Variant variant) {
    super(variant);
  }

  private static void assertNothing(Throwable thrown) {
    assertThat(thrown).isNull();
  }

  private static void assertNothingOr(Throwable thrown, Class<?>... allowed) {
    if (thrown != null) {
      assertThat(thrown).isInstanceOfAny(allowed);
    }
  }

  @Test
  void aWakeupAgainstASelectIsNeverLost() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    register(pair.client, selector, OP_READ);
    Race.rounds(
        3 * Race.ROUNDS,
        round -> {
          Throwable[] thrown = Race.run(round, selector::select, selector::wakeup);
          assertNothing(thrown[0]);
          selector.selectNow();
        });
  }

  @Test
  void bytesAgainstASelectAreNeverLost() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    SelectionKey key = register(pair.client, selector, OP_READ);
    Race.rounds(
        3 * Race.ROUNDS,
        round -> {
          Throwable[] thrown =
              Race.run(round, selector::select, () -> pair.server.write(bytes(1, 1)));
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(key.isReadable()).isTrue();
          selector.selectedKeys().clear();
          readFully(pair.client, 1);
        });
  }

  @Test
  void anInterruptAgainstASelectEndsItAndClosesNothing() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    register(pair.client, selector, OP_READ);
    Race.rounds(
        round -> {
          Race.Victim victim = new Race.Victim();
          assertNothing(Race.run(round, victim.of(selector::select), victim.interrupt())[0]);
          assertThat(selector.isOpen()).isTrue();
        });
    assertThat(pair.client.isOpen()).isTrue();
  }

  @Test
  void aCloseAgainstASelectEndsIt() throws Exception {
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            Selector selector = pair.client.provider().openSelector();
            register(pair.client, selector, OP_READ);
            Throwable[] thrown =
                Race.run(
                    round,
                    selector::select,
                    () -> {
                      selector.close();
                      return null;
                    });
            assertNothingOr(thrown[0], ClosedSelectorException.class);
            assertNothing(thrown[1]);
            assertThat(pair.client.isRegistered()).isFalse();
            pair.server.write(bytes(1, 1));
            pair.client.configureBlocking(true);
            assertThat(read(pair.client)).isEqualTo(1);
          }
        });
  }

  @Test
  void aChannelsCloseAgainstASelectIsSeenByPeerAndSelector() throws Exception {
    Pair other = pair();
    Selector selector = selectorFor(other.client);
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            register(pair.client, selector, OP_READ);
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> selector.select(),
                    () -> {
                      pair.client.close();
                      selector.wakeup();
                      return null;
                    });
            assertNothing(thrown[0]);
            assertNothing(thrown[1]);
            assertThat(read(pair.server)).isEqualTo(-1);
          }
          selector.selectNow();
          assertThat(selector.keys()).isEmpty();
        });
  }

  @Test
  void aCancelAgainstASelectTakesTheKey() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    pair.client.configureBlocking(false);
    Race.rounds(
        round -> {
          SelectionKey key = pair.client.register(selector, OP_READ);
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> selector.select(),
                  () -> {
                    key.cancel();
                    selector.wakeup();
                    return null;
                  });
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          selector.selectNow();
          assertThat(selector.keys()).isEmpty();
          assertThat(pair.client.isRegistered()).isFalse();
        });
  }

  @Test
  void newInterestAgainstASelectCountsAtTheLatestAfterAWakeup() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    SelectionKey key = register(pair.client, selector, 0);
    Race.rounds(
        round -> {
          int[] n = {0};
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> n[0] = selector.select(),
                  () -> {
                    key.interestOps(OP_WRITE);
                    selector.wakeup();
                    return null;
                  });
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          if (n[0] == 0) {
            assertThat(selector.select(SOON_MS) + selector.selectedKeys().size()).isPositive();
          }
          assertThat(key.isWritable()).isTrue();
          key.interestOps(0);
          selector.selectedKeys().clear();
          selector.selectNow();
        });
  }

  @Test
  void interestOfSeveralThreadsIsNotMixedUp() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    SelectionKey key = register(pair.client, selector, 0);
    Race.rounds(
        3 * Race.ROUNDS,
        round -> {
          key.interestOps(0);
          Race.run(round, () -> key.interestOpsOr(OP_READ), () -> key.interestOpsOr(OP_WRITE));
          assertThat(key.interestOps()).isEqualTo(OP_READ | OP_WRITE);
          Race.run(round, () -> key.interestOpsAnd(~OP_READ), () -> key.interestOpsAnd(~OP_WRITE));
          assertThat(key.interestOps()).isZero();
          Race.run(round, () -> key.interestOps(OP_READ), () -> key.interestOpsOr(OP_WRITE));
          assertThat(key.interestOps()).isIn(OP_READ, OP_READ | OP_WRITE);
        });
  }

  @Test
  void aRegistrationAgainstASelectIsSeenAtTheLatestAfterAWakeup() throws Exception {
    Pair first = pair();
    Selector selector = selectorFor(first.client);
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            pair.client.configureBlocking(false);
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> selector.select(),
                    () -> {
                      pair.client.register(selector, OP_WRITE);
                      selector.wakeup();
                      return null;
                    });
            assertNothing(thrown[0]);
            assertNothing(thrown[1]);
            SelectionKey key = pair.client.keyFor(selector);
            if (!selector.selectedKeys().contains(key)) {
              assertThat(selector.select(SOON_MS)).isEqualTo(1);
            }
            assertThat(key.isWritable()).isTrue();
          }
          selector.selectNow();
          assertThat(selector.keys()).isEmpty();
        });
  }

  @Test
  void aChannelMovesBetweenSelectorsAndLosesNoWakeUp() throws Exception {
    Pair pair = pair();
    Selector one = selectorFor(pair.client);
    Selector other = selectorFor(pair.client);
    pair.client.configureBlocking(false);
    Race.rounds(
        round -> {
          Selector from = round % 2 == 0 ? other : one;
          Selector to = round % 2 == 0 ? one : other;
          SelectionKey old = pair.client.keyFor(from);
          if (old != null) {
            old.cancel();
          }
          SelectionKey key = pair.client.register(to, OP_READ);
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> to.select(),
                  () -> from.selectNow(),
                  () -> pair.server.write(bytes(1, 1)));
          for (Throwable each : thrown) {
            assertNothing(each);
          }
          assertThat(key.isReadable()).isTrue();
          to.selectedKeys().clear();
          readFully(pair.client, 1);
          from.selectNow();
        });
  }

  @Test
  void aModeChangeAgainstTheSelectThatTakesItsKey() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    Race.rounds(
        round -> {
          SelectionKey key = register(pair.client, selector, OP_READ);
          key.cancel();
          Throwable[] thrown =
              Race.run(round, selector::selectNow, () -> pair.client.configureBlocking(true));
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          pair.server.write(bytes(1, 1));
          assertThat(read(pair.client)).isEqualTo(1);
          selector.selectNow();
          assertThat(pair.client.isRegistered()).isFalse();
        });
  }

  @Test
  void aReadAgainstASelectLosesNothing() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    register(pair.client, selector, OP_READ);
    Race.rounds(
        round -> {
          int[] n = {0};
          pair.server.write(bytes(1, 1));
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> selector.select(2),
                  () -> n[0] = read(pair.client),
                  () -> selector.wakeup());
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          selector.selectedKeys().clear();
          if (n[0] == 0) {
            readFully(pair.client, 1);
          }
          assertThat(selector.selectNow()).isZero();
        });
  }

  @Test
  void shutdownsAgainstASelectAreReported() throws Exception {
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair();
              Selector selector = pair.client.provider().openSelector()) {
            SelectionKey key = register(pair.client, selector, OP_READ);
            Throwable[] thrown =
                Race.run(round, () -> selector.select(), () -> pair.server.shutdownOutput());
            assertNothing(thrown[0]);
            assertNothing(thrown[1]);
            assertThat(key.isReadable()).isTrue();
            assertThat(read(pair.client)).isEqualTo(-1);
          }
        });
  }

  // ---- against each other

  @Test
  void aRegistrationMayMeetTheChannelsClose() throws Exception {
    Pair first = pair();
    Selector selector = selectorFor(first.client);
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            pair.client.configureBlocking(false);
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> pair.client.register(selector, OP_READ),
                    () -> {
                      pair.client.close();
                      return null;
                    });
            assertNothingOr(thrown[0], ClosedChannelException.class, CancelledKeyException.class);
            assertNothing(thrown[1]);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(read(pair.server)).isEqualTo(-1);
          }
        });
  }

  @Test
  void aRegistrationMayMeetTheSelectorsClose() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    Race.rounds(
        round -> {
          Selector selector = pair.client.provider().openSelector();
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> pair.client.register(selector, OP_READ),
                  () -> {
                    selector.close();
                    return null;
                  });
          assertNothingOr(thrown[0], ClosedSelectorException.class, CancelledKeyException.class);
          if (Runtime.version().feature() < 25) {
            // Older selectors trip over a key that its channel never got.
            assertNothingOr(thrown[1], NullPointerException.class);
          } else {
            assertNothing(thrown[1]);
          }
          assertThat(pair.client.isRegistered()).isFalse();
        });
    pair.client.configureBlocking(true);
    pair.server.write(bytes(1, 1));
    assertThat(read(pair.client)).isEqualTo(1);
  }

  @Test
  void aCancelMayMeetTheChannelsClose() throws Exception {
    Pair first = pair();
    Selector selector = selectorFor(first.client);
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            SelectionKey key = register(pair.client, selector, OP_READ);
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> {
                      key.cancel();
                      return null;
                    },
                    () -> {
                      pair.client.close();
                      return null;
                    },
                    () -> selector.selectNow());
            for (Throwable each : thrown) {
              assertNothing(each);
            }
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(read(pair.server)).isEqualTo(-1);
          }
        });
  }

  @Test
  void registeringAgainAgainstAClosingSelectorSucceedsOrFindsItClosed() throws Exception {
    ServerSocketChannel listener = unbound();
    listener.configureBlocking(false);
    Race.rounds(
        10 * Race.ROUNDS,
        round -> {
          Selector selector = selectorFor(listener);
          listener.register(selector, 0);
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> listener.register(selector, SelectionKey.OP_ACCEPT),
                  () -> {
                    selector.close();
                    return null;
                  });
          assertNothingOr(thrown[0], ClosedSelectorException.class);
          assertNothing(thrown[1]);
          assertThat(listener.keyFor(selector)).isNull();
          assertThat(listener.isRegistered()).isFalse();
        });
  }

  @Test
  void closesOfChannelAndSelectorMayMeet() throws Exception {
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            Selector selector = pair.client.provider().openSelector();
            register(pair.client, selector, OP_READ);
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> {
                      selector.close();
                      return null;
                    },
                    () -> {
                      pair.client.close();
                      return null;
                    },
                    () -> selector.wakeup());
            for (Throwable each : thrown) {
              assertNothing(each);
            }
            assertThat(read(pair.server)).isEqualTo(-1);
          }
        });
  }

  @Test
  void manyThreadsWakeRegisterAndCloseAtOnce() throws Exception {
    ServerSocketChannel listener = listener();
    Selector selector = opened(variant.server().openSelector());
    CountDownLatch over = new CountDownLatch(3);
    Doing<Integer> selecting = Doing.start(() -> echo(selector, over));
    List<Doing<Integer>> clients = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      clients.add(Doing.start(() -> talk(listener, selector, over)));
    }
    int sent = 0;
    for (Doing<Integer> client : clients) {
      sent += client.result();
    }
    assertThat(selecting.result()).isEqualTo(sent).isEqualTo(3 * 12 * 10 * 50);
  }

  private static int echo(Selector selector, CountDownLatch over) throws IOException {
    int echoed = 0;
    while (over.getCount() > 0) {
      selector.select(500);
      for (SelectionKey key : selector.selectedKeys()) {
        ByteBuffer in = ByteBuffer.allocate(100);
        SocketChannel channel = (SocketChannel) key.channel();
        int n = channel.read(in);
        if (n < 0) {
          channel.close();
        } else {
          channel.write(in.flip());
          echoed += n;
        }
      }
      selector.selectedKeys().clear();
    }
    return echoed;
  }

  private int talk(ServerSocketChannel listener, Selector selector, CountDownLatch over)
      throws IOException {
    try {
      int n = 0;
      for (int i = 0; i < 12; i++) {
        try (SocketChannel client = variant.client().openSocketChannel()) {
          SocketChannel server;
          synchronized (listener) {
            client.connect(listener.getLocalAddress());
            server = listener.accept();
          }
          register(server, selector, OP_READ);
          selector.wakeup();
          for (int j = 0; j < 10; j++) {
            client.write(bytes(50, j));
            assertThat(readFully(client, 50)).isEqualTo(bytes(50, j));
            n += 50;
          }
        }
      }
      return n;
    } finally {
      over.countDown();
      selector.wakeup();
    }
  }

  /** The selector removes many keys at once, and another thread registers as soon as it may. */
  @Test
  void aChannelCanBeRegisteredAgainAsSoonAsItIsNotRegistered() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    Selector selector = selectorFor(pair.client);
    List<SocketChannel> others = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      SocketChannel other = client();
      other.configureBlocking(false);
      others.add(other);
    }
    AtomicInteger received = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    Doing<Void> selecting =
        Doing.start(
            () -> {
              while (!over.get()) {
                selector.select(
                    key -> {
                      if (key.channel() == pair.client) {
                        received.addAndGet(readAll(pair.client));
                      }
                    });
              }
              return null;
            });
    try {
      for (int i = 1; i <= 5 * Race.ROUNDS; i++) {
        int expected = i;
        for (SocketChannel other : others) {
          other.register(selector, 0);
        }
        SelectionKey key = pair.client.register(selector, OP_READ);
        selector.wakeup();
        pair.server.write(bytes(1, i));
        Await.until("the byte is read", () -> received.get() == expected);
        for (SocketChannel other : others) {
          other.keyFor(selector).cancel();
        }
        key.cancel();
        selector.wakeup();
        for (SocketChannel other : others) {
          awaitUnregistered(other);
        }
        awaitUnregistered(pair.client);
      }
    } finally {
      over.set(true);
      selector.wakeup();
    }
    selecting.result();
  }

  private static int readAll(SocketChannel channel) {
    try {
      return Math.max(0, channel.read(ByteBuffer.allocate(16)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Without a pause: what is next is to come as early as it may. */
  private static void awaitUnregistered(SocketChannel channel) {
    long until = System.nanoTime() + SOON_MS * 1_000_000;
    while (channel.isRegistered()) {
      assertThat(System.nanoTime() - until).isNegative();
      Thread.onSpinWait();
    }
  }

  /** A thread that cancels what it sees in keys() may be faster than the registration. */
  @Test
  void aKeyThatIsCancelledWhileItIsRegisteredIsReturned() throws Exception {
    Assumptions.assumeTrue(
        talaria() || Runtime.version().feature() >= 25,
        "Java 17's own selector lets a CancelledKeyException out of register; Java 25's does not");
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    pair.client.configureBlocking(false);
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger cancelled = new AtomicInteger();
    Doing<Void> cancelling =
        Doing.start(
            () -> {
              while (!over.get()) {
                for (SelectionKey key : selector.keys()) {
                  key.cancel();
                  cancelled.incrementAndGet();
                }
              }
              return null;
            });
    try {
      for (int i = 0; i < 20_000 || cancelled.get() == 0; i++) {
        SelectionKey key = pair.client.register(selector, SelectionKey.OP_READ);
        assertThat(key.channel()).isSameAs(pair.client);
        key.cancel();
        Await.until(
            "the key is gone",
            () -> {
              selector.selectNow();
              return !pair.client.isRegistered();
            });
      }
    } finally {
      over.set(true);
    }
    cancelling.result();
  }
}
