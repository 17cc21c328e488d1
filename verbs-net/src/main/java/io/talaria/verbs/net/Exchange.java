// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.ffi.PrintableText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * One exchange, by the side that connects or by the one that accepts:
 *
 * <pre>{@code
 * connects                                       accepts
 *    |  <------------- CHALLENGE: nonce ------------  |
 *    |  -- OFFER: nonce, queue pair, proof -------->  |   queue pair connected
 *    |  <- ANSWER: nonce, queue pair, proof --------  |
 *    |  -- READY: proof --------------------------->  |   the handler is told
 *    |     (REFUSAL: words, instead of any of these)  |
 * }</pre>
 *
 * <p>A proof is an HMAC-SHA256 by the common key over the role of the sender and all frames so far:
 * a frame of another exchange, or of the other side, proves nothing. Blocks; a caller that limits
 * the time closes the channel from another thread. Confined to one thread.
 */
final class Exchange {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int MAX_REFUSAL_BYTES = 300;

  static final String ONLY_HERE =
      "this side has a key, the other has not: give both the same key file";
  static final String ONLY_THERE =
      "one side has a key, this one has not: give both the same key file";
  static final String WRONG_PROOF = "the proof is wrong: both sides need the same key file";

  private final SocketChannel channel;
  private final Optional<byte[]> key;
  private final boolean connects;
  private final ByteBuffer transcript = ByteBuffer.allocate(4 * Frame.MAX_BYTES);

  Exchange(SocketChannel channel, Optional<byte[]> key, boolean connects) {
    this.channel = channel;
    this.key = key;
    this.connects = connects;
  }

  static byte[] nonce() {
    byte[] nonce = new byte[Frame.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  static int packetNumber() {
    return RANDOM.nextInt(1 << 24);
  }

  static long node() {
    return RANDOM.nextLong();
  }

  void send(byte type, byte[] body) throws IOException {
    boolean proved = key.isPresent() && type != Frame.CHALLENGE;
    ByteBuffer frame = Frame.write(type, nonce(), body, proved, key.isPresent());
    transcript.put(frame.duplicate().flip());
    if (proved) {
      frame.put(proof(connects));
    }
    write(frame.flip());
  }

  /** Says why not; what cannot be said any more is not. */
  void refuse(String why) {
    byte[] words = why.getBytes(StandardCharsets.US_ASCII);
    byte[] body = Arrays.copyOf(words, Math.min(words.length, MAX_REFUSAL_BYTES));
    try {
      write(Frame.write(Frame.REFUSAL, new byte[Frame.NONCE_BYTES], body, false, false).flip());
    } catch (IOException e) {
      // The peer is gone already.
    }
  }

  private void write(ByteBuffer frame) throws IOException {
    while (frame.hasRemaining()) {
      int ignored = channel.write(frame);
    }
  }

  /** The body of the next frame, which must be of a type, and proved if there is a key. */
  ByteBuffer receive(byte type) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(Frame.MAX_BYTES);
    fill(frame, Frame.prefixBytes());
    int length = Frame.length(frame);
    fill(frame, length);
    if (Frame.type(frame) == Frame.REFUSAL) {
      throw new ExchangeException("the peer refuses: " + words(frame, length));
    }
    if (Frame.type(frame) != type) {
      throw new ExchangeException(
          "a frame of type " + Frame.type(frame) + " where type " + type + " was to come");
    }
    if (Frame.keyed(frame) != key.isPresent()) {
      throw new ExchangeException(key.isPresent() ? ONLY_HERE : ONLY_THERE);
    }
    int end = length;
    if (key.isPresent() && type != Frame.CHALLENGE) {
      end = length - Frame.PROOF_BYTES;
      if (end < Frame.HEADER_BYTES) {
        throw new ExchangeException("a frame without proof");
      }
    }
    transcript.put(frame.array(), 0, end);
    if (end != length) {
      byte[] proof = Arrays.copyOfRange(frame.array(), end, length);
      if (!MessageDigest.isEqual(proof, proof(!connects))) {
        throw new ExchangeException(WRONG_PROOF);
      }
    }
    return ByteBuffer.wrap(frame.array(), Frame.HEADER_BYTES, end - Frame.HEADER_BYTES).slice();
  }

  private void fill(ByteBuffer frame, int until) throws IOException {
    frame.limit(until);
    while (frame.hasRemaining()) {
      if (channel.read(frame) < 0) {
        throw new ExchangeException(
            "the peer has closed the connection after " + frame.position() + " bytes of a frame");
      }
    }
  }

  private static String words(ByteBuffer frame, int length) {
    byte[] words = new byte[length - Frame.HEADER_BYTES];
    frame.get(Frame.HEADER_BYTES, words);
    String text = new String(words, StandardCharsets.US_ASCII);
    return PrintableText.of(text);
  }

  private byte[] proof(boolean byTheOneThatConnects) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key.orElseThrow(), "HmacSHA256"));
      mac.update((byte) (byTheOneThatConnects ? 1 : 2));
      mac.update(transcript.array(), 0, transcript.position());
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no HMAC-SHA256", e);
    }
  }
}
