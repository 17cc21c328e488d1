// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Two connections of one client in one selector of a server: one is taken from the selector by
 * another thread while the selector selects, and the neighbour must be heard all the same.
 */
class ClosingNeighbourContractTest extends Contract {
  private static final int ROUNDS = Math.min(100, Race.ROUNDS);
  private static final byte ECHO = 1;
  private static final byte LEAVE = 2;

  private final ExecutorService pool = Executors.newSingleThreadExecutor();
  private volatile boolean over;

  ClosingNeighbourContractTest(Variant variant) {
    super(variant);
  }

  @AfterEach
  void stop() throws InterruptedException {
    pool.shutdown();
    assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
  }

  /** What the pool does with a channel that is asked to leave. */
  @FunctionalInterface
  private interface Leaving {
    void leave(SelectionKey key) throws IOException;
  }

  /** Answers every byte of ECHO, and hands a channel with a byte of LEAVE to the pool. */
  private Void serve(Selector selector, Leaving how) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(1);
    while (!over) {
      selector.select();
      for (SelectionKey key : selector.selectedKeys()) {
        in.clear();
        try {
          SocketChannel channel = (SocketChannel) key.channel();
          int n = channel.read(in);
          if (n < 0) {
            channel.close();
          } else if (n > 0 && in.get(0) == ECHO) {
            channel.write(in.flip());
          } else if (n > 0) {
            pool.execute(() -> leave(key, how));
          }
        } catch (CancelledKeyException | ClosedChannelException e) {
          // It has left.
        }
      }
      selector.selectedKeys().clear();
    }
    return null;
  }

  private static void leave(SelectionKey key, Leaving how) {
    try {
      how.leave(key);
    } catch (ClosedChannelException e) {
      // The end of the stream has been faster.
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void ask(Pair pair) throws Exception {
    ByteBuffer one = ByteBuffer.allocate(1);
    pair.client.write(ByteBuffer.wrap(new byte[] {ECHO}));
    assertThat(Doing.start(() -> pair.client.read(one)).result()).isEqualTo(1);
  }

  private void rounds(Leaving how) throws Exception {
    Race.rounds(
        ROUNDS,
        round -> {
          over = false;
          try (Pair leaver = variant.pair();
              Pair neighbour = variant.pair();
              Selector selector = leaver.server.provider().openSelector()) {
            register(leaver.server, selector, SelectionKey.OP_READ);
            register(neighbour.server, selector, SelectionKey.OP_READ);
            Doing<Void> serving = Doing.start(() -> serve(selector, how));
            ask(neighbour);
            leaver.client.write(ByteBuffer.wrap(new byte[] {LEAVE}));
            if (round % 2 == 0) {
              leaver.client.shutdownOutput();
            }
            leaver.client.close();
            for (int i = 0; i < 3; i++) {
              ask(neighbour);
            }
            over = true;
            selector.wakeup();
            assertThat(serving.result()).isNull();
          }
        });
  }

  @Test
  void isHeardWhenAnotherThreadClosesTheOther() throws Exception {
    rounds(key -> key.channel().close());
  }

  @Test
  void isHeardWhenAnotherThreadCancelsTheOther() throws Exception {
    rounds(SelectionKey::cancel);
  }

  @Test
  void isHeardWhenTheOtherBecomesBlocking() throws Exception {
    rounds(
        key -> {
          key.cancel();
          key.channel().configureBlocking(true);
          ((SocketChannel) key.channel()).read(ByteBuffer.allocate(100));
        });
  }

  @Test
  void isHeardWhenTheOtherMovesToAnotherSelector() throws Exception {
    try (Selector next = variant.server().openSelector()) {
      rounds(
          key -> {
            key.cancel();
            key.channel().register(next, SelectionKey.OP_READ);
            next.selectNow();
          });
    }
  }
}
