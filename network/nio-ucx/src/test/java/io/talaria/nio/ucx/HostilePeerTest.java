// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.ucx.Variant.longs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a peer sends may end its own connections; all others go on, and nothing is thrown. */
@Timeout(120)
class HostilePeerTest {
  private static final int WINDOW = UcxInput.WINDOW_BYTES;

  private static Variant variant;

  @BeforeAll
  static void open() throws TransportException {
    assumeTrue(Variant.possible(), "no UCX here");
    variant = new Variant();
  }

  @AfterAll
  static void close() {
    if (variant != null) {
      variant.close();
    }
  }

  @AfterEach
  void others() {
    variant.assertOthersGoOn();
  }

  private static Variant.Hostile begun() throws TransportException {
    Variant.Hostile hostile = variant.new Hostile();
    hostile.begin();
    variant.until(() -> hostile.stream.peerSwitchAt() == 0);
    return hostile;
  }

  private static void assertBreaks(Variant.Hostile hostile) throws TransportException {
    hostile.assertBroken();
    assertThat(hostile.stream.write(ByteBuffer.allocate(1))).isEqualTo(TransportStream.BROKEN);
    hostile.end();
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 8000, 100_000, 4_000_000})
  void aNoteThatIsTooLongIsForgotten(int bytes) throws Exception {
    Variant.Hostile hostile = begun();
    hostile.message(ByteBuffer.allocate(bytes), hostile.token);
    hostile.assertWhole();
    hostile.end();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 15})
  void aNoteThatIsTooShortBreaksItsStream(int bytes) throws Exception {
    Variant.Hostile hostile = begun();
    hostile.message(ByteBuffer.allocate(bytes), hostile.token);
    assertBreaks(hostile);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 16, 100_000})
  void aNoteForNobodyIsForgotten(int bytes) throws Exception {
    Variant.Hostile hostile = begun();
    for (long tag : new long[] {0, -1, hostile.token ^ 1, hostile.token ^ Long.MIN_VALUE}) {
      hostile.message(ByteBuffer.allocate(bytes), tag);
    }
    hostile.assertWhole();
    hostile.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5, -1, 1L << 32 | UcxMessages.GRANT, Long.MIN_VALUE})
  void aNoteOfUnknownTypeBreaksItsStream(long type) throws Exception {
    Variant.Hostile hostile = begun();
    hostile.message(longs(type, 0), hostile.token);
    assertBreaks(hostile);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32})
  void aLimitThatNobodyGrantsBreaksItsStream(long limit) throws Exception {
    Variant.Hostile hostile = begun();
    hostile.message(longs(UcxMessages.GRANT, limit), hostile.token);
    assertBreaks(hostile);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 9, -1, Long.MIN_VALUE})
  void anEndBeforeWhatHasComeBreaksItsStream(long total) throws Exception {
    Variant.Hostile hostile = begun();
    hostile.stream(ByteBuffer.allocate(10));
    variant.until(() -> hostile.stream.unread());
    hostile.message(longs(UcxMessages.FINISHED, total), hostile.token);
    variant.until(() -> hostile.stream.readiness(TransportStream.READ) != 0);
    assertThat(hostile.read()).as("what came before").isEqualTo(10);
    assertBreaks(hostile);
  }

  @Test
  void bytesAfterTheEndBreakTheStream() throws Exception {
    Variant.Hostile hostile = begun();
    hostile.message(longs(UcxMessages.FINISHED, 10), hostile.token);
    hostile.stream(ByteBuffer.allocate(11));
    assertBreaks(hostile);
  }

  @Test
  void aSecondEndIsNoEnd() throws Exception {
    Variant.Hostile hostile = begun();
    hostile.message(longs(UcxMessages.FINISHED, 0), hostile.token);
    hostile.message(longs(UcxMessages.ABORTED, 7), hostile.token);
    variant.until(() -> hostile.read() == TransportStream.END);
    hostile.end();
  }

  @Test
  void whoSendsMoreThanHeMayIsCutOff() throws Exception {
    Variant.Hostile hostile = begun();
    ByteBuffer piece = ByteBuffer.allocate(1 << 16);
    for (int sent = 0; sent <= WINDOW; sent += piece.capacity()) {
      hostile.stream(piece);
    }
    hostile.assertBroken();
    hostile.stream(piece); // and stays so
    assertBreaks(hostile);
  }

  @Test
  void bytesForNobodyAreForgotten() throws Exception {
    Variant.Hostile hostile = variant.new Hostile();
    hostile.stream(longs(hostile.token ^ Long.MIN_VALUE, 0));
    for (int i = 0; i < 200; i++) {
      hostile.stream(ByteBuffer.allocate(1 << 16));
    }
    hostile.assertWhole();
    assertThat(hostile.stream.peerSwitchAt()).isNegative();
    hostile.end();
  }

  @Test
  void aStreamThatAnotherBringsStaysWithTheFirst() throws Exception {
    Variant.Hostile first = begun();
    Variant.Hostile second = variant.new Hostile();
    second.stream(longs(first.token, 0));
    second.stream(ByteBuffer.allocate(100));
    second.assertWhole();
    first.stream(ByteBuffer.allocate(1));
    variant.until(() -> first.stream.unread());
    assertThat(first.read()).isEqualTo(1);
    first.end();
    second.end();
  }

  @Test
  void outputThatSwitchesBeforeItsBeginningBreaksTheStream() throws Exception {
    Variant.Hostile hostile = variant.new Hostile();
    hostile.stream(longs(hostile.token, -1));
    assertBreaks(hostile);
  }

  @Test
  void aPeerThatDiesInItsFirstWordLeavesNothing() throws Exception {
    Variant.Hostile hostile = variant.new Hostile();
    hostile.stream(ByteBuffer.allocate(3));
    variant.progress();
    hostile.stream.controlEnded(true);
    hostile.assertBroken();
    hostile.end();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
  void aWindowThatIsNoneIsRefused(int window) throws Exception {
    Variant.Hostile hostile = begun();
    for (byte type : new byte[] {UcxMessages.ACCEPT, UcxMessages.ESTABLISHED}) {
      assertRefused(hostile, UcxMessages.window(type, hostile.token, window));
    }
    hostile.end();
  }

  @Test
  void sessionMessagesOfAnotherShapeAreRefused() throws Exception {
    Variant.Hostile hostile = begun();
    for (int type = -1; type < 8; type++) {
      for (int bytes = 0; bytes < 20; bytes++) {
        boolean window = type == UcxMessages.ACCEPT || type == UcxMessages.ESTABLISHED;
        boolean known = type >= UcxMessages.ACCEPT && type <= UcxMessages.RELEASED;
        if (!known || bytes != (window ? 12 : 8)) {
          ByteBuffer message = ByteBuffer.allocate(1 + bytes).put(0, (byte) type);
          assertRefused(hostile, message);
        }
      }
    }
    assertRefused(hostile, ByteBuffer.allocate(0));
    hostile.end();
  }

  private static void assertRefused(Variant.Hostile hostile, ByteBuffer message) {
    assertThatThrownBy(() -> hostile.tell(message))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL));
  }

  @Test
  void aPlaceThatIsNoneIsRefused() {
    Random random = new Random(1);
    for (int bytes = 0; bytes < 200; bytes++) {
      byte[] noise = new byte[bytes];
      random.nextBytes(noise);
      assertThatThrownBy(
              () -> variant.transport.answer(variant.hostilePeer, ByteBuffer.wrap(noise)))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL));
    }
  }
}
