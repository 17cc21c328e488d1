// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Waiting;
import io.talaria.nio.process.Host;
import io.talaria.ucx.Ucx;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What comes to a rank's worker, and is not what a rank sends. */
@Timeout(120)
class UcxFrameTransportTest {
  private static final long FRAMES = 0x54L << 56;
  private static final int EAGER = 1;
  private static final int EAGER_SHORT = 11;

  private UcxFrameTransport transport;
  private Engine engine;
  private Stranger stranger;

  @BeforeEach
  void rankZeroOfTwo() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), Ucx.unavailableReason().orElse(""));
    transport = new UcxFrameTransport(0, 2, 16384, 1 << 20, 0);
    stranger = new Stranger();
    transport.rankAddresses(List.of(transport.rankAddress(), stranger.rankAddress()));
    engine = new Engine(new TransportDevice(transport, 0, 2, 1000, 1 << 20, null), Waiting.ASLEEP);
  }

  @AfterEach
  void close() throws Exception {
    if (engine != null) {
      engine.close();
      stranger.close();
    }
  }

  private void say(byte[] bytes, long tag) {
    stranger.say(UcxRankAddress.read(transport.rankAddress()).address(), bytes, tag);
  }

  private static byte[] frame(int length, int kind, int context, long bytes, int payload) {
    ByteBuffer frame = ByteBuffer.allocate(32 + payload).order(ByteOrder.nativeOrder());
    frame.putInt(length).putInt(kind | 1 << 8).putInt(context).putInt(5);
    frame.putLong(bytes).putLong(99);
    return frame.array();
  }

  private static byte[] shortFrame(int length, int context, int payload) {
    ByteBuffer frame = ByteBuffer.allocate(16 + payload).order(ByteOrder.nativeOrder());
    frame.putInt(length).putInt(EAGER_SHORT | 1 << 8).putInt(context).putInt(5);
    return frame.array();
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

  @Test
  void whatIsOfNoRankIsPassedOver() {
    byte[] good = frame(40, EAGER, 0, 8, 8);
    ByteBuffer.wrap(good).put(32, (byte) 42);
    say(good, FRAMES | 7);
    say(good, FRAMES);
    say(good, FRAMES | 0x8000_0001L);
    say(new byte[100], 0x55L << 56 | 1);
    say(good, FRAMES | 1);
    Received result = received();
    assertThat(result.error()).isEqualTo(Operation.OK);
    assertThat(result.bytes()).isEqualTo(8);
  }

  @Test
  void aMessageThatIsNoFrameEndsTheLink() {
    say(new byte[3], FRAMES | 1);
    fails("it sent a message of 3 bytes that is no frame");
  }

  @Test
  void aLengthThatLiesEndsTheLink() {
    say(frame(64, EAGER, 0, 0, 0), FRAMES | 1);
    fails("it sent a message of 32 bytes that is no frame");
  }

  @Test
  void aFrameThatLiesEndsTheLink() {
    say(frame(32, EAGER, 0, 100, 0), FRAMES | 1);
    fails("it sent a frame of 0 bytes for a message of 100");
  }

  @Test
  void aShortHeaderIsRead() {
    say(shortFrame(24, 0, 8), FRAMES | 1);
    Received result = received();
    assertThat(result.error()).isEqualTo(Operation.OK);
    assertThat(result.bytes()).isEqualTo(8);
    say(shortFrame(16, 0, 0), FRAMES | 1);
    assertThat(received().bytes()).isZero();
  }

  @Test
  void aShortHeaderWhoseLengthLiesEndsTheLink() {
    say(shortFrame(40, 0, 8), FRAMES | 1);
    fails("it sent a message of 24 bytes that is no frame");
  }

  @Test
  void aShortHeaderOfNoContextEndsTheLink() {
    say(shortFrame(24, -1, 8), FRAMES | 1);
    fails("it sent a frame of context -1; there are 0 to ");
  }

  @Test
  void anotherKindNeedsItsWholeHeader() {
    byte[] cut = Arrays.copyOf(frame(24, 4, 0, 0, 0), 24);
    say(cut, FRAMES | 1);
    fails("it sent a message of 24 bytes that is no frame");
  }

  @Test
  void anAnswerToNothingEndsTheLink() {
    say(frame(32, 4, 0, 0, 0), FRAMES | 1);
    fails("it sent an answer to a message that is not under way");
  }

  @Test
  void aFrameThatIsTooLongSaysWhatMustBeTheSame() {
    say(new byte[5000], FRAMES | 1);
    assertThatThrownBy(this::received)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("a frame of more than 4096 bytes has come: talaria.mpj.buffer")
        .hasMessageContaining("here it is 16384");
  }

  @Test
  void ranksThatCannotSpeakAreNamed() {
    String[] words = transport.rankAddress().split(" ");
    for (String rankAddress :
        List.of(
            with(words, 1, "1.2.3"),
            with(words, 2, "MIDDLE_ENDIAN"),
            with(words, 5, "00ff"),
            with(words, 0, "ucx"),
            "7001 127.0.0.1")) {
      assertThatThrownBy(
              () -> transport.rankAddresses(List.of(transport.rankAddress(), rankAddress)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching(
              "rank 1 has UCX 1.2.3, this rank .*|rank 1's memory is MIDDLE_ENDIAN.*"
                  + "|no worker address.*|a rank address that is not of this version.s ucxdev.*");
    }
  }

  private static String with(String[] words, int at, String other) {
    String[] changed = words.clone();
    changed[at] = other;
    return String.join(" ", changed);
  }

  @Test
  void aRankThatOthersOfThisHostCannotWakeDoesNotSleepForLong() {
    String[] words = transport.rankAddress().split(" ");
    String mine = String.join(" ", words);
    assertThat(words[3]).isEqualTo(Host.bootId());
    assertThat(words[4]).isEqualTo(Host.networkNamespace());

    transport.rankAddresses(List.of(mine, mine));
    assertThat(transport.maxSleepNs()).isEqualTo(Long.MAX_VALUE);

    String elsewhere = with(words, 4, "net:[1]");
    transport.rankAddresses(List.of(mine, elsewhere));
    assertThat(transport.maxSleepNs()).isEqualTo(1_000_000);

    String onAnotherHost = with(elsewhere.split(" "), 3, "another");
    transport.rankAddresses(List.of(mine, onAnotherHost));
    assertThat(transport.maxSleepNs()).isEqualTo(Long.MAX_VALUE);

    transport.rankAddresses(List.of(mine, with(words, 4, "-")));
    assertThat(transport.maxSleepNs()).isEqualTo(Long.MAX_VALUE);
  }
}
