// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.authentication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** What a proof binds: each part of it, so that it is none anywhere else. */
class KeyProofTest {
  private static final String PROTOCOL = "Talaria test";
  private static final byte[] KEY = filled(32, 1);
  private static final byte[] CALLER = filled(32, 2);
  private static final byte[] ANSWERER = filled(32, 3);
  private static final byte[] ENDS =
      KeyProof.addresses(
          new InetSocketAddress("192.0.2.1", 40_000), new InetSocketAddress("192.0.2.2", 7));

  private final KeyProof here = new KeyProof(PROTOCOL, 1, KEY, CALLER, ANSWERER);

  private static byte[] filled(int length, int value) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private static void assertNoProof(byte[] proof, KeyProof there, byte[]... context) {
    for (boolean caller : new boolean[] {true, false}) {
      assertThat(there.isProof(proof, caller, context)).isFalse();
    }
  }

  @Test
  void bothSidesMakeTheSame() {
    KeyProof there = new KeyProof(PROTOCOL, 1, KEY.clone(), CALLER.clone(), ANSWERER.clone());
    assertThat(there.isProof(here.proof(true, ENDS), true, ENDS)).isTrue();
    assertThat(there.isProof(here.proof(false, ENDS), false, ENDS)).isTrue();
  }

  @Test
  void theFormatIsAsDrawn() throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
    mac.update("Talaria test: caller's proof".getBytes(StandardCharsets.US_ASCII));
    mac.update(new byte[] {0, 2, 1}); // behind the label, and version 0x0201
    mac.update(CALLER);
    mac.update(ANSWERER);
    byte[] context = {4, (byte) 192, 0, 2, 1, (byte) 0x9c, 0x40, 4, (byte) 192, 0, 2, 2, 0, 7};
    assertThat(ENDS).isEqualTo(context);
    byte[] expected = mac.doFinal(context);
    assertThat(new KeyProof(PROTOCOL, 0x201, KEY, CALLER, ANSWERER).proof(true, ENDS))
        .isEqualTo(expected);
  }

  @Test
  void aReflectedProofIsNone() {
    assertThat(here.isProof(here.proof(true, ENDS), false, ENDS)).isFalse();
    assertThat(here.isProof(here.proof(false, ENDS), true, ENDS)).isFalse();
    // Nor where the other side has only swapped the nonces, or has sent back the caller's.
    assertNoProof(here.proof(true, ENDS), new KeyProof(PROTOCOL, 1, KEY, ANSWERER, CALLER), ENDS);
    KeyProof echoed = new KeyProof(PROTOCOL, 1, KEY, CALLER, CALLER);
    assertThat(echoed.isProof(echoed.proof(true, ENDS), false, ENDS)).isFalse();
  }

  @Test
  void aProofOfAnotherHandshakeIsNone() {
    for (boolean caller : new boolean[] {true, false}) {
      byte[] proof = here.proof(caller, ENDS);
      assertNoProof(proof, new KeyProof(PROTOCOL, 1, KEY, CALLER, filled(32, 9)), ENDS);
      assertNoProof(proof, new KeyProof(PROTOCOL, 1, KEY, filled(32, 9), ANSWERER), ENDS);
    }
  }

  @Test
  void aProofOfAnotherKeyProtocolOrVersionIsNone() {
    for (boolean caller : new boolean[] {true, false}) {
      byte[] proof = here.proof(caller, ENDS);
      assertNoProof(proof, new KeyProof(PROTOCOL, 1, filled(32, 9), CALLER, ANSWERER), ENDS);
      assertNoProof(proof, new KeyProof("Talaria tests", 1, KEY, CALLER, ANSWERER), ENDS);
      assertNoProof(proof, new KeyProof("Talaria tes", 1, KEY, CALLER, ANSWERER), ENDS);
      assertNoProof(proof, new KeyProof(PROTOCOL, 2, KEY, CALLER, ANSWERER), ENDS);
      assertNoProof(proof, new KeyProof(PROTOCOL, 257, KEY, CALLER, ANSWERER), ENDS);
    }
  }

  @Test
  void aProofOfOtherAddressesIsNone() {
    InetSocketAddress caller = new InetSocketAddress("192.0.2.1", 40_000);
    InetSocketAddress answerer = new InetSocketAddress("192.0.2.2", 7);
    List<byte[]> others =
        List.of(
            new byte[0],
            KeyProof.addresses(answerer, caller),
            KeyProof.addresses(new InetSocketAddress("192.0.2.1", 40_001), answerer),
            KeyProof.addresses(new InetSocketAddress("192.0.2.3", 40_000), answerer),
            KeyProof.addresses(caller, new InetSocketAddress("192.0.2.2", 8)),
            KeyProof.addresses(caller, new InetSocketAddress("192.0.2.3", 7)),
            KeyProof.addresses(caller, new InetSocketAddress("2001:db8::2", 7)));
    for (byte[] other : others) {
      assertNoProof(here.proof(true, ENDS), here, other);
      assertNoProof(here.proof(false, ENDS), here, other);
    }
  }

  @Test
  void aProofThatIsCutOrExtendedOrChangedIsNone() {
    byte[] proof = here.proof(true, ENDS);
    for (int length = 0; length <= 2 * proof.length; length++) {
      if (length != proof.length) {
        assertNoProof(Arrays.copyOf(proof, length), here, ENDS);
      }
    }
    for (int bit = 0; bit < proof.length * Byte.SIZE; bit++) {
      byte[] changed = proof.clone();
      changed[bit >> 3] ^= (byte) (1 << (bit & 7));
      assertNoProof(changed, here, ENDS);
    }
  }

  @Test
  void aContextThatIsCutOrExtendedIsAnother() {
    byte[] proof = here.proof(true, ENDS);
    for (int length = 0; length < ENDS.length + 5; length++) {
      if (length != ENDS.length) {
        assertNoProof(proof, here, Arrays.copyOf(ENDS, length));
      }
    }
    // Bytes do not move between a nonce and the context.
    byte[] from = ByteBuffer.allocate(64).put(filled(32, 3)).put(filled(32, 4)).array();
    assertNoProof(here.proof(true, filled(32, 4)), here, from);
  }

  @Test
  void secretsAreNoProofsAndDifferByTheirLabels() {
    Set<String> all = new HashSet<>();
    for (byte[] each :
        List.of(
            here.proof(true, ENDS),
            here.proof(false, ENDS),
            here.secret("caller's frames", ENDS),
            here.secret("answerer's frames", ENDS))) {
      assertThat(each).hasSize(KeyProof.PROOF_BYTES);
      all.add(Arrays.toString(each));
    }
    assertThat(all).hasSize(4);
  }

  @Test
  void whatCouldBeReadInTwoWaysIsRefused() {
    for (String bad : List.of("a: b", "a\0", "\u00e4")) {
      assertThatThrownBy(() -> new KeyProof(bad, 1, KEY, CALLER, ANSWERER))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> here.secret("a\0b")).isInstanceOf(IllegalArgumentException.class);
    for (int length : new int[] {0, 31, 33}) {
      assertThatThrownBy(() -> new KeyProof(PROTOCOL, 1, KEY, new byte[length], ANSWERER))
          .hasMessageContaining("nonces of " + length);
      assertThatThrownBy(() -> new KeyProof(PROTOCOL, 1, KEY, CALLER, new byte[length]))
          .hasMessageContaining("and " + length);
    }
    for (int version : new int[] {-1, 65_536}) {
      assertThatThrownBy(() -> new KeyProof(PROTOCOL, version, KEY, CALLER, ANSWERER))
          .hasMessage("version " + version);
    }
  }

  @Test
  void noncesAreFresh() {
    assertThat(KeyProof.nonce()).hasSize(32).isNotEqualTo(KeyProof.nonce());
  }
}
