// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.ffi.PrintableText;
import io.talaria.nio.authentication.KeyProof;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;

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
 * <p>A proof is a {@link KeyProof} whose context is all frames so far, without their proofs: the
 * offers among them name both queue pairs. Its nonces are those of OFFER and CHALLENGE. Blocks; a
 * caller that limits the time closes the channel from another thread. Confined to one thread.
 */
final class Exchange {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int MAX_REFUSAL_BYTES = 300;

  static final String PROTOCOL = "Talaria verbs-net by TCP";
  static final String ONLY_HERE =
      "this side has a key, the other has not: give both the same key file";
  static final String ONLY_THERE =
      "one side has a key, this one has not: give both the same key file";
  static final String WRONG_PROOF = "the proof is wrong: both sides need the same key file";

  private final SocketChannel channel;
  private final Optional<byte[]> key;
  private final boolean connects;
  private final ByteBuffer transcript = ByteBuffer.allocate(4 * Frame.MAX_BYTES);

  /** Of the first frame in each direction. */
  private byte[] ownNonce;

  private byte[] peerNonce;

  Exchange(SocketChannel channel, Optional<byte[]> key, boolean connects) {
    this.channel = channel;
    this.key = key;
    this.connects = connects;
  }

  static int packetNumber() {
    return RANDOM.nextInt(1 << 24);
  }

  static long node() {
    return RANDOM.nextLong();
  }

  void send(byte type, byte[] body) throws IOException {
    boolean proved = key.isPresent() && type != Frame.CHALLENGE;
    byte[] nonce = KeyProof.nonce();
    if (ownNonce == null) {
      ownNonce = nonce;
    }
    ByteBuffer frame = Frame.write(type, nonce, body, proved, key.isPresent());
    transcript.put(frame.duplicate().flip());
    if (proved) {
      frame.put(keyProof().proof(connects, frames()));
    }
    write(frame.flip());
  }

  /** Says why not; what cannot be said any more is not. */
  void refuse(String why) {
    byte[] words = why.getBytes(StandardCharsets.US_ASCII);
    byte[] body = Arrays.copyOf(words, Math.min(words.length, MAX_REFUSAL_BYTES));
    try {
      write(Frame.write(Frame.REFUSAL, new byte[KeyProof.NONCE_BYTES], body, false, false).flip());
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
      end = length - KeyProof.PROOF_BYTES;
      if (end < Frame.HEADER_BYTES) {
        throw new ExchangeException("a frame without proof");
      }
    }
    if (peerNonce == null) {
      peerNonce = Frame.nonce(frame);
    }
    transcript.put(frame.array(), 0, end);
    if (end != length) {
      byte[] proof = Arrays.copyOfRange(frame.array(), end, length);
      if (!keyProof().isProof(proof, !connects, frames())) {
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

  private KeyProof keyProof() {
    return new KeyProof(
        PROTOCOL,
        Frame.VERSION,
        key.orElseThrow(),
        connects ? ownNonce : peerNonce,
        connects ? peerNonce : ownNonce);
  }

  private byte[] frames() {
    return Arrays.copyOf(transcript.array(), transcript.position());
  }
}
