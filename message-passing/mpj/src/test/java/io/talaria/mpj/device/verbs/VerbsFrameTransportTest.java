// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Waiting;
import io.talaria.verbs.DeviceList;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rank on verbs whose peer is no rank as it should be. */
@Timeout(120)
class VerbsFrameTransportTest {
  private static final int EAGER = 1;
  private static final int BUFFER = 16384;

  private VerbsFrameTransport transport;
  private VerbsFrameTransport stranger;
  private Engine engine;
  private final Peers nobody =
      new Peers() {
        @Override
        public void arrived(int rank, FrameInput input) {}

        @Override
        public void fetched(long id) {}

        @Override
        public void gone(int rank, RankGoneException why) {}
      };

  private static VerbsFrameTransport open(int rank, String port, int buffer, byte[] secret)
      throws IOException {
    Links.Options options =
        new Links.Options()
            .secret(secret)
            .bufferBytes(VerbsFrameTransport.SETUP_BUFFER_BYTES)
            .graceNs(0);
    return new VerbsFrameTransport(
        rank, 2, new Links(rank, 2, options), port, buffer, 1 << 20, 1 << 24, 0);
  }

  @BeforeEach
  void rankZeroOfTwo() throws Exception {
    String unavailableReason = LoopbackVerbs.prepare();
    assumeTrue(unavailableReason.isEmpty(), unavailableReason);
    transport = open(0, null, BUFFER, new byte[32]);
    engine = new Engine(new TransportDevice(transport, 0, 2, 1000, 1 << 20, null), Waiting.ASLEEP);
  }

  @AfterEach
  void close() {
    if (engine != null) {
      engine.close();
    }
    if (stranger != null) {
      stranger.close();
    }
  }

  private void meet(VerbsFrameTransport other) {
    stranger = other;
    List<String> addresses = List.of(transport.rankAddress(), other.rankAddress());
    transport.rankAddresses(addresses);
    other.rankAddresses(addresses);
  }

  private FrameOutput strangersOutput() {
    FrameOutput output = stranger.connect(0);
    while (output.claim(32) < 0) {
      int ignored = stranger.round(nobody);
      engine.progress();
    }
    return output;
  }

  private void say(int kind, int context, long bytes, int length) {
    FrameOutput output = strangersOutput();
    long at = output.claim(length);
    MemorySegment to = output.segment();
    to.set(ValueLayout.JAVA_INT_UNALIGNED, at + 4, kind | 1 << 8);
    to.set(ValueLayout.JAVA_INT_UNALIGNED, at + 8, context);
    to.set(ValueLayout.JAVA_INT_UNALIGNED, at + 12, 5);
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 16, bytes);
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 24, 99);
    output.publish(at, length);
  }

  private record Received(int error, long bytes, RuntimeException failure) {}

  private Received received() {
    return engine.receive(
        new byte[8],
        BaseType.BYTE,
        0,
        8,
        1,
        5,
        0,
        op -> new Received(op.error, op.bytes, op.failure));
  }

  private void fails(String why) {
    Received result = received();
    assertThat(result.error()).isEqualTo(Operation.FAILED);
    assertThat(result.failure())
        .isInstanceOf(RankGoneException.class)
        .hasMessageContaining("rank 1 is gone")
        .hasMessageContaining(why);
    assertThatThrownBy(() -> engine.send(new byte[8], BaseType.BYTE, 0, 8, 1, 5, 0, false))
        .isInstanceOf(RankGoneException.class);
  }

  /** Both connect, the one that ends has the connection that counts, and that never comes. */
  @Test
  void aRankThatEndsBeforeItConnectsFailsWhatWaitsForIt() throws Exception {
    VerbsFrameTransport own = open(1, null, BUFFER, new byte[32]);
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Engine one =
            new Engine(new TransportDevice(own, 1, 2, 1000, 1 << 20, null), Waiting.ASLEEP);
        ServerSocketChannel silent = ServerSocketChannel.open().bind(any);
        Links zero = new Links(0, 2, new Links.Options().secret(new byte[32]).graceNs(0))) {
      int port = ((InetSocketAddress) silent.getLocalAddress()).getPort();
      zero.rankAddresses(List.of(zero.rankAddress(), port + " 127.0.0.1"));
      own.rankAddresses(List.of(zero.rankAddress(), own.rankAddress()));
      assertThat(zero.connect(1)).isNotNull(); // To where nobody answers, but this is the one.
      Operation send = one.isend(new byte[8], BaseType.BYTE, 0, 8, 0, 5, 0, true);
      one.ended(0, "it was killed");
      long until = System.nanoTime() + 60_000_000_000L;
      while (!one.test(send)) {
        assertThat(System.nanoTime()).as("still waits").isLessThan(until);
      }
      assertThat(send.failure)
          .isInstanceOf(RankGoneException.class)
          .hasMessageContaining("it was killed");
    }
  }

  @Test
  void aFrameIsReceived() throws Exception {
    meet(open(1, null, BUFFER, new byte[32]));
    say(EAGER, 0, 8, 40);
    Received result = received();
    assertThat(result.error()).isEqualTo(Operation.OK);
    assertThat(result.bytes()).isEqualTo(8);
  }

  @Test
  void aFrameThatLiesEndsTheLink() throws Exception {
    meet(open(1, null, BUFFER, new byte[32]));
    say(EAGER, 0, 100, 32);
    fails("it sent a frame of 0 bytes for a message of 100");
  }

  @Test
  void aMessageThatIsNoFrameEndsTheLink() throws Exception {
    meet(open(1, null, BUFFER, new byte[32]));
    say(EAGER, 0, 8, 3);
    fails("it sent a message of 3 bytes that is no frame");
  }

  @Test
  void anAnswerToNothingEndsTheLink() throws Exception {
    meet(open(1, null, BUFFER, new byte[32]));
    say(4, 0, 0, 32);
    fails("it sent an answer to a message that is not under way");
  }

  @Test
  void aSetupWhereFramesBelongEndsTheLink() throws Exception {
    meet(open(1, null, BUFFER, new byte[32]));
    say(10, 0, 0, 32);
    fails("it sent a frame of unknown kind 10");
  }

  @Test
  void theEndOfTheConnectionIsTheEndOfTheRank() throws Exception {
    meet(open(1, null, BUFFER, new byte[32]));
    say(EAGER, 0, 8, 40);
    assertThat(received().error()).isEqualTo(Operation.OK);
    stranger.close();
    fails("");
  }

  @Test
  void buffersThatDifferAreNamed() throws Exception {
    meet(open(1, null, BUFFER / 4, new byte[32]));
    assertThat(stranger.connect(0).hasRoom()).isFalse();
    Thread other =
        new Thread(
            () -> {
              while (!Thread.interrupted()) {
                int ignored = stranger.round(nobody);
              }
            });
    other.start();
    fails("talaria.mpj.buffer must be the same for all ranks");
    other.interrupt();
    other.join();
  }

  @Test
  void whoDoesNotKnowTheSecretIsNoRank() throws Exception {
    meet(open(1, null, BUFFER, new byte[] {1, 2, 3}));
    FrameOutput output = stranger.connect(0);
    long until = System.nanoTime() + 1_000_000_000;
    while (System.nanoTime() < until) {
      int ignored = stranger.round(nobody);
      engine.progress();
      assertThat(output.claim(32)).isNegative();
    }
  }

  private static String device() {
    try (DeviceList devices = DeviceList.open()) {
      return devices.first().name();
    }
  }

  @Test
  void aPortThatIsMissingIsNamed() {
    assertThatThrownBy(() -> open(0, "mlx9_9", BUFFER, new byte[32]))
        .isInstanceOf(MissingTransportException.class)
        .hasMessageContaining("no RDMA device is named mlx9_9");
    assertThatThrownBy(() -> open(0, device() + ":77", BUFFER, new byte[32]))
        .isInstanceOf(MissingTransportException.class)
        .hasMessageContaining("no port is active: " + device() + " has ");
    assertThatThrownBy(() -> open(0, "loop0:x", BUFFER, new byte[32]))
        .isInstanceOf(MissingTransportException.class)
        .hasMessageContaining("talaria.mpj.hca=loop0:x");
  }
}
