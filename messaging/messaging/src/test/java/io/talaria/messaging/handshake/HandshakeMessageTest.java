// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What one node encodes, the other one decodes. */
class HandshakeMessageTest {
  private static String rejected(String why) throws ProtocolException {
    ByteBuffer frame = HandshakeMessage.reject(HandshakeMessage.REJECT_FULL, why);
    assertThat(frame.getInt()).isEqualTo(frame.remaining());
    assertThat(frame.get()).isEqualTo(HandshakeMessage.REJECT);
    assertThat(frame.get()).isEqualTo(HandshakeMessage.REJECT_FULL);
    String text = HandshakeMessage.rejectText(frame);
    assertThat(frame.hasRemaining()).isFalse();
    return text;
  }

  /** Such as of a file that cannot be created, with its name and that of its directory. */
  @Test
  void aReasonWithTwoPathsIsUnderstood() throws Exception {
    String why = "x".repeat(1000) + ": No space left on device";
    assertThat(rejected(why)).isEqualTo(why);
  }

  @Test
  void aLongReasonIsCutOff() throws Exception {
    String why = "x".repeat(100_000);
    assertThat(rejected(why)).hasSizeGreaterThan(1000).isSubstringOf(why);
  }
}
