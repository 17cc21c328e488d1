// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Connections;
import io.talaria.nio.Role;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Closes, interrupts and shutdowns against threads in a channel, and against each other. */
class ChannelRaceContractTest extends Contract {
  ChannelRaceContractTest(Variant variant) {
    super(variant);
  }

  private static Callable<Void> close(AutoCloseable one) {
    return () -> {
      one.close();
      return null;
    };
  }

  private static Callable<Void> flood(SocketChannel channel) {
    return () -> {
      ByteBuffer chunk = ByteBuffer.allocateDirect(1 << 16);
      while (true) {
        channel.write(chunk.clear());
      }
    };
  }

  private static void assertClosed(Throwable thrown) {
    assertThat(thrown).isInstanceOf(ClosedChannelException.class);
  }

  private static void assertClosedOrNothing(Throwable thrown) {
    if (thrown != null) {
      assertClosed(thrown);
    }
  }

  private static void assertNothing(Throwable thrown) {
    assertThat(thrown).isNull();
  }

  @FunctionalInterface
  private interface OfPair {
    void run(int round, Pair pair) throws Exception;
  }

  private void withPairs(OfPair each) throws Exception {
    Race.rounds(
        round -> {
          try (Pair pair = variant.pair()) {
            each.run(round, pair);
          }
        });
  }

  // ---- against a read

  /** Never the end of the stream: that would tell the reader that the peer has closed. */
  @Test
  void aCloseAgainstAReadIsNeverAnEnd() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown = Race.run(round, () -> read(pair.client), close(pair.client));
          assertClosed(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void anInterruptAgainstAReadClosesTheChannel() throws Exception {
    withPairs(
        (round, pair) -> {
          Race.Victim victim = new Race.Victim();
          Throwable[] thrown =
              Race.run(round, victim.of(() -> read(pair.client)), victim.interrupt());
          assertThat(thrown[0]).isExactlyInstanceOf(ClosedByInterruptException.class);
          assertThat(pair.client.isOpen()).isFalse();
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void shutdownInputAgainstAReadIsTheEnd() throws Exception {
    withPairs(
        (round, pair) -> {
          int[] n = {0};
          Throwable[] thrown =
              Race.run(round, () -> n[0] = read(pair.client), pair.client::shutdownInput);
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(n[0]).isEqualTo(-1);
        });
  }

  @Test
  void thePeersCloseAgainstAReadIsTheEnd() throws Exception {
    withPairs(
        (round, pair) -> {
          int[] n = {0};
          assertNothing(Race.run(round, () -> n[0] = read(pair.client), close(pair.server))[0]);
          assertThat(n[0]).isEqualTo(-1);
        });
  }

  @Test
  void thePeersResetAgainstAReadIsAReset() throws Exception {
    withPairs(
        (round, pair) -> {
          pair.server.setOption(StandardSocketOptions.SO_LINGER, 0);
          Throwable thrown = Race.run(round, () -> read(pair.client), close(pair.server))[0];
          assertThat(thrown).isInstanceOf(IOException.class).hasMessage("Connection reset");
        });
  }

  @Test
  void bytesAndTheEndAgainstAReadLoseNothing() throws Exception {
    withPairs(
        (round, pair) -> {
          long[] n = {0};
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> n[0] = Bytes.readToEnd(pair.client),
                  () -> {
                    pair.server.write(bytes(5000, round));
                    pair.server.close();
                    return null;
                  });
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(n[0]).isEqualTo(5000);
        });
  }

  @Test
  void aModeChangeAgainstAReadLeavesBothRight() throws Exception {
    Pair pair = pair();
    Race.rounds(
        round -> {
          int[] n = {0};
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> n[0] = read(pair.client),
                  () -> pair.client.configureBlocking(round % 2 == 0),
                  () -> pair.server.write(bytes(1, 1)));
          for (Throwable each : thrown) {
            assertNothing(each);
          }
          pair.client.configureBlocking(true);
          if (n[0] == 0) {
            readFully(pair.client, 1);
          }
        });
  }

  // ---- against a write

  @Test
  void aCloseAgainstAWriteEndsIt() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown = Race.run(round, flood(pair.client), close(pair.client));
          assertClosed(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(Bytes.readToEnd(pair.server)).isNotNegative();
        });
  }

  @Test
  void anInterruptAgainstAWriteClosesTheChannel() throws Exception {
    withPairs(
        (round, pair) -> {
          Race.Victim victim = new Race.Victim();
          Throwable[] thrown = Race.run(round, victim.of(flood(pair.client)), victim.interrupt());
          assertThat(thrown[0]).isExactlyInstanceOf(ClosedByInterruptException.class);
          assertThat(pair.client.isOpen()).isFalse();
        });
  }

  @Test
  void shutdownOutputAgainstAWriteEndsIt() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown = Race.run(round, flood(pair.client), pair.client::shutdownOutput);
          assertThat(thrown[0]).isExactlyInstanceOf(AsynchronousCloseException.class);
          assertNothing(thrown[1]);
          assertThat(pair.client.isOpen()).isTrue();
          assertThat(Bytes.readToEnd(pair.server)).isNotNegative();
        });
  }

  @Test
  void whatAWriteReportedArrivesWhateverShutdownCutsIt() throws Exception {
    withPairs((round, pair) -> assertReportedArrives(round, pair, pair.client::shutdownOutput));
  }

  @Test
  void whatAWriteReportedArrivesWhateverCloseCutsIt() throws Exception {
    withPairs((round, pair) -> assertReportedArrives(round, pair, close(pair.client)));
  }

  private static void assertReportedArrives(int round, Pair pair, Callable<?> cut)
      throws Exception {
    long[] counts = {0, 0};
    Throwable[] thrown =
        Race.run(
            round,
            () -> {
              pair.client.configureBlocking(false);
              while (true) {
                counts[0] += pair.client.write(ByteBuffer.allocate(1000));
              }
            },
            cut,
            () -> counts[1] = Bytes.readToEnd(pair.server));
    assertThat(thrown[0]).isInstanceOf(IOException.class); // a broken pipe at times, also the JDK's
    assertNothing(thrown[1]);
    assertNothing(thrown[2]);
    assertThat(counts[1]).isEqualTo(counts[0]);
  }

  @Test
  void thePeersCloseAgainstAWriteBreaksIt() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable thrown = Race.run(round, flood(pair.client), close(pair.server))[0];
          assertThat(thrown)
              .isInstanceOf(IOException.class)
              .isNotInstanceOf(ClosedChannelException.class);
          assertThat(pair.client.isOpen()).isTrue();
        });
  }

  @Test
  void aCloseAgainstAReadAndAWriteEndsBoth() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(round, () -> read(pair.client), flood(pair.client), close(pair.client));
          assertClosed(thrown[0]);
          assertClosed(thrown[1]);
          assertNothing(thrown[2]);
        });
  }

  // ---- against accept and connect

  @Test
  void aCloseAgainstAnAcceptEndsIt() throws Exception {
    Race.rounds(
        round -> {
          ServerSocketChannel listener = Pair.listen(variant.server());
          Throwable[] thrown = Race.run(round, listener::accept, close(listener));
          assertClosed(thrown[0]);
          assertNothing(thrown[1]);
        });
  }

  @Test
  void anInterruptAgainstAnAcceptClosesTheListener() throws Exception {
    Race.rounds(
        round -> {
          ServerSocketChannel listener = Pair.listen(variant.server());
          Race.Victim victim = new Race.Victim();
          Throwable[] thrown = Race.run(round, victim.of(listener::accept), victim.interrupt());
          assertThat(thrown[0]).isExactlyInstanceOf(ClosedByInterruptException.class);
          assertThat(listener.isOpen()).isFalse();
        });
  }

  @Test
  void aCloseAgainstAnAcceptAndAConnectLeavesNobodyWaiting() throws Exception {
    Race.rounds(
        round -> {
          ServerSocketChannel listener = Pair.listen(variant.server());
          SocketAddress address = listener.getLocalAddress();
          try (SocketChannel client = variant.client().openSocketChannel()) {
            SocketChannel[] accepted = {null};
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> accepted[0] = listener.accept(),
                    () -> client.connect(address),
                    close(listener));
            assertClosedOrNothing(thrown[0]);
            if (accepted[0] != null) {
              accepted[0].close();
            }
            // A client that connected in the last moment may hear of it only by a time-out of TCP.
            assertThat(thrown[1] == null || thrown[1] instanceof IOException).isTrue();
            assertNothing(thrown[2]);
          }
        });
  }

  @Test
  void aCloseAgainstAConnectEndsIt() throws Exception {
    SocketAddress silent = silent();
    Race.rounds(
        50,
        round -> {
          SocketChannel channel = variant.client().openSocketChannel();
          Throwable[] thrown = Race.run(round, () -> channel.connect(silent), close(channel));
          assertClosed(thrown[0]);
          assertThat(channel.isConnectionPending()).isFalse();
        });
  }

  @Test
  void anInterruptAgainstAConnectClosesTheChannel() throws Exception {
    SocketAddress silent = silent();
    Race.rounds(
        50,
        round -> {
          SocketChannel channel = variant.client().openSocketChannel();
          Race.Victim victim = new Race.Victim();
          Throwable[] thrown =
              Race.run(round, victim.of(() -> channel.connect(silent)), victim.interrupt());
          assertThat(thrown[0]).isExactlyInstanceOf(ClosedByInterruptException.class);
          assertThat(channel.isOpen()).isFalse();
        });
  }

  @Test
  void aCloseAgainstAConnectThatSucceedsLeavesNothingHalfDone() throws Exception {
    ServerSocketChannel listener = listener();
    listener.configureBlocking(false);
    Race.rounds(
        round -> {
          SocketChannel channel = variant.client().openSocketChannel();
          Throwable[] thrown =
              Race.run(round, () -> channel.connect(listener.getLocalAddress()), close(channel));
          assertClosedOrNothing(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(channel.isConnected()).isFalse();
          try (SocketChannel server = listener.accept()) {
            if (server != null) {
              try {
                assertThat(read(server)).isEqualTo(-1);
              } catch (IOException e) {
                assertThat(e).hasMessage("Connection reset");
              }
            }
          }
        });
  }

  @Test
  void aCloseAgainstFinishConnectEndsIt() throws Exception {
    ServerSocketChannel listener = listener();
    Race.rounds(
        round -> {
          SocketChannel channel = variant.client().openSocketChannel();
          channel.configureBlocking(false);
          channel.connect(listener.getLocalAddress());
          Throwable[] thrown =
              Race.run(
                  round,
                  () -> {
                    while (!channel.finishConnect()) {
                      Thread.onSpinWait();
                    }
                    return null;
                  },
                  close(channel));
          assertClosedOrNothing(thrown[0]);
          assertNothing(thrown[1]);
          listener.accept().close();
        });
  }

  // ---- against a connect

  /**
   * One thread connects; another, whose selector has been told of the channel before, finishes.
   * That is how JGroups does it.
   */
  @Test
  void finishConnectMayMeetConnect() throws Exception {
    ServerSocketChannel listener = listener();
    SocketAddress to = listener.getLocalAddress();
    Race.rounds(
        round -> {
          try (SocketChannel channel = variant.client().openSocketChannel()) {
            channel.configureBlocking(false);
            Throwable[] thrown =
                Race.run(
                    round,
                    () -> finish(channel),
                    () -> channel.connect(to) || channel.finishConnect());
            assertNothing(thrown[0]);
            assertNothing(thrown[1]);
            assertThat(channel.isConnected()).isTrue();
            listener.accept().close();
          }
        });
  }

  private static boolean finish(SocketChannel channel) throws IOException {
    while (true) {
      try {
        if (channel.finishConnect()) {
          return true;
        }
      } catch (NoConnectionPendingException e) {
        Thread.onSpinWait(); // the other thread has yet to connect
      }
    }
  }

  // ---- against each other

  @Test
  void closesOfOneChannelMayMeet() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(round, close(pair.client), close(pair.client), close(pair.client));
          for (Throwable each : thrown) {
            assertNothing(each);
          }
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void bothEndsMayCloseAtOnce() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown = Race.run(round, close(pair.client), close(pair.server));
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
        });
  }

  @Test
  void bothEndsMayShutDownAtOnce() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(round, pair.client::shutdownOutput, pair.server::shutdownOutput);
          assertNothing(thrown[0]);
          assertNothing(thrown[1]);
          assertThat(read(pair.client)).isEqualTo(-1);
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void aCloseMayMeetShutdowns() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(
                  round,
                  close(pair.client),
                  pair.client::shutdownOutput,
                  pair.client::shutdownInput);
          assertNothing(thrown[0]);
          assertClosedOrNothing(thrown[1]);
          assertClosedOrNothing(thrown[2]);
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void aCloseMayMeetAModeChange() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(round, close(pair.client), () -> pair.client.configureBlocking(false));
          assertNothing(thrown[0]);
          assertClosedOrNothing(thrown[1]);
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void aCloseMayMeetOptionsAndAddresses() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(
                  round,
                  close(pair.client),
                  () -> pair.client.setOption(StandardSocketOptions.TCP_NODELAY, true),
                  () -> pair.client.getOption(StandardSocketOptions.SO_KEEPALIVE),
                  () -> pair.client.getRemoteAddress());
          assertNothing(thrown[0]);
          for (int i = 1; i < thrown.length; i++) {
            assertClosedOrNothing(thrown[i]);
          }
        });
  }

  @Test
  void shutdownsOfOneChannelMayMeet() throws Exception {
    withPairs(
        (round, pair) -> {
          Throwable[] thrown =
              Race.run(
                  round,
                  pair.client::shutdownOutput,
                  pair.client::shutdownOutput,
                  pair.client::shutdownInput,
                  pair.client::shutdownInput);
          for (Throwable each : thrown) {
            assertNothing(each);
          }
          assertThat(read(pair.client)).isEqualTo(-1);
          assertThat(read(pair.server)).isEqualTo(-1);
        });
  }

  @Test
  void anInterruptMayMeetAClose() throws Exception {
    withPairs(
        (round, pair) -> {
          Race.Victim victim = new Race.Victim();
          Throwable[] thrown =
              Race.run(
                  round,
                  victim.of(() -> read(pair.client)),
                  victim.interrupt(),
                  close(pair.client));
          assertClosed(thrown[0]);
          assertNothing(thrown[2]);
        });
  }

  // ---- of a listener

  @Test
  void aCloseAgainstABindLeavesNoListener() throws Exception {
    variant.pair().close(); // its listener stays
    long before = listeners();
    Race.rounds(
        round -> {
          ServerSocketChannel listener = variant.server().openServerSocketChannel();
          Throwable[] thrown =
              Race.run(
                  round,
                  close(listener),
                  () -> listener.bind(new InetSocketAddress(Pair.LOOPBACK, 0)));
          assertNothing(thrown[0]);
          assertClosedOrNothing(thrown[1]);
        });
    assertThat(listeners()).isEqualTo(before);
  }

  private static long listeners() {
    return Connections.snapshot().stream().filter(info -> info.role() == Role.LISTENER).count();
  }
}
