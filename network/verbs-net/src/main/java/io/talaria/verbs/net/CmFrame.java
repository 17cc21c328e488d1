// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.ffi.PrintableText;
import io.talaria.nio.authentication.KeyProof;
import io.talaria.verbs.Gid;
import io.talaria.verbs.QueuePairAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What nodes say to each other in the private data of RDMA CM, most significant byte first. A
 * request has room for 56 bytes, which is why it is so terse; RDMA CM adds zeros.
 *
 * <pre>{@code
 * HELLO      0 version  1 type  2 zero 2            4 nonce 32
 * CHALLENGE  0 version  1 type  2 its number 2      4 nonce 32
 * OFFER and  0 version  1 type  2 number 2          4 window 2   6 reads 1   7 keyed 1
 * ANSWER     8 slice 4  12 longest large message 4  16 node 8    24 proof 32, if keyed
 * REFUSAL    0 version  1 type  2 length 2          4 words
 * }</pre>
 *
 * <p>A proof is a {@link KeyProof}. Its context is the IP addresses of the connection that RDMA CM
 * makes, the hello, the challenge, the offer, in an answer also the offer's proof and the answer,
 * and the number of the sender's queue pair, 4.
 */
final class CmFrame {
  static final byte VERSION = 2;
  static final String PROTOCOL = "Talaria verbs-net by RDMA CM";
  static final byte HELLO = 1;
  static final byte CHALLENGE = 2;
  static final byte OFFER = 3;
  static final byte ANSWER = 4;
  static final byte REFUSAL = 5;

  /** Of a hello and a challenge. */
  static final int NONCE_FRAME_BYTES = 36;

  /** Of an offer and an answer, without proof. */
  static final int OFFER_BYTES = 24;

  private static final int NONCE_AT = 4;
  private static final int MAX_WORDS = 140;
  private static final int MTU_BYTES = 4096;

  private CmFrame() {}

  /** The type of a frame, which must be of this version. */
  static byte type(byte[] data) throws ExchangeException {
    if (data.length < NONCE_AT) {
      throw new ExchangeException(
          "the peer does not speak this protocol: it has sent "
              + data.length
              + " bytes of private data");
    }
    if (data[0] != VERSION) {
      throw new ExchangeException(
          "the peer speaks version "
              + (data[0] & 0xff)
              + " of the protocol by RDMA CM, this side version "
              + VERSION);
    }
    return data[1];
  }

  static byte[] nonceFrame(byte type, int number, byte[] nonce) {
    ByteBuffer frame = ByteBuffer.allocate(NONCE_FRAME_BYTES);
    frame.put(VERSION).put(type).putShort((short) number).put(nonce);
    return frame.array();
  }

  /** A hello or a challenge without the zeros behind it. */
  static byte[] nonceFrame(byte[] data) throws ExchangeException {
    if (data.length < NONCE_FRAME_BYTES) {
      throw new ExchangeException("a nonce of " + (data.length - NONCE_AT) + " bytes, not 32");
    }
    return Arrays.copyOf(data, NONCE_FRAME_BYTES);
  }

  static int number(byte[] data) {
    return ByteBuffer.wrap(data).getShort(2) & 0xffff;
  }

  static byte[] offer(byte type, int number, Offer own, boolean keyed) {
    ByteBuffer frame = ByteBuffer.allocate(OFFER_BYTES);
    frame.put(VERSION).put(type).putShort((short) number).putShort((short) own.window());
    frame.put((byte) own.reads()).put((byte) (keyed ? 1 : 0)).putInt(own.sliceBytes());
    frame.putInt((int) own.largeBytes()).putLong(own.node());
    return frame.array();
  }

  /**
   * What a peer offers, checked.
   *
   * @param data an offer or an answer
   * @param keyed whether this side has a key
   * @param queuePair the peer's, as RDMA CM knows it
   * @param address the peer's
   */
  static Offer offer(byte[] data, boolean keyed, int queuePair, InetAddress address)
      throws ExchangeException {
    if (data.length < OFFER_BYTES) {
      throw new ExchangeException("the peer offers too little: " + data.length + " bytes");
    }
    ByteBuffer frame = ByteBuffer.wrap(data);
    if ((frame.get(7) != 0) != keyed) {
      throw new ExchangeException(keyed ? Exchange.ONLY_HERE : Exchange.ONLY_THERE);
    }
    try {
      Offer offer =
          new Offer(
              frame.getLong(16),
              new QueuePairAddress(queuePair, 0, 0, Gid.of(address)),
              MTU_BYTES, // RDMA CM agrees on one
              frame.getInt(8),
              frame.getShort(4) & 0xffff,
              frame.get(6) & 0xff,
              frame.getInt(12));
      offer.check();
      return offer;
    } catch (IllegalArgumentException e) {
      throw new ExchangeException("the peer offers nonsense: " + e.getMessage(), e);
    }
  }

  /** The proofs of a handshake. */
  static KeyProof keyProof(byte[] key, byte[] hello, byte[] challenge) {
    return new KeyProof(PROTOCOL, VERSION, key, nonce(hello), nonce(challenge));
  }

  private static byte[] nonce(byte[] frame) {
    return Arrays.copyOfRange(frame, NONCE_AT, NONCE_FRAME_BYTES);
  }

  /**
   * The context of a proof.
   *
   * @param queuePair of the side that proves
   * @param ends the addresses, see {@link #ends}
   * @param frames so far, each of a fixed length
   */
  static byte[] context(int queuePair, byte[] ends, byte[]... frames) {
    int bytes = ends.length + Integer.BYTES;
    for (byte[] frame : frames) {
      bytes += frame.length;
    }
    ByteBuffer context = ByteBuffer.allocate(bytes).put(ends);
    for (byte[] frame : frames) {
      context.put(frame);
    }
    return context.putInt(queuePair).array();
  }

  /** The addresses of both sides, without ports: queue pairs tell what is at an address. */
  static byte[] ends(InetAddress caller, InetAddress answerer) {
    return KeyProof.addresses(new InetSocketAddress(caller, 0), new InetSocketAddress(answerer, 0));
  }

  static void requireProof(byte[] data, KeyProof proof, boolean caller, byte[] context)
      throws ExchangeException {
    // Zeros, if there is none.
    byte[] given = Arrays.copyOfRange(data, OFFER_BYTES, OFFER_BYTES + KeyProof.PROOF_BYTES);
    if (!proof.isProof(given, caller, context)) {
      throw new ExchangeException(Exchange.WRONG_PROOF);
    }
  }

  static byte[] with(byte[] frame, byte[] proof) {
    byte[] all = Arrays.copyOf(frame, frame.length + proof.length);
    System.arraycopy(proof, 0, all, frame.length, proof.length);
    return all;
  }

  static byte[] refusal(String why) {
    byte[] words = why.getBytes(StandardCharsets.US_ASCII);
    int length = Math.min(words.length, MAX_WORDS);
    ByteBuffer frame = ByteBuffer.allocate(4 + length);
    frame.put(VERSION).put(REFUSAL).putShort((short) length).put(words, 0, length);
    return frame.array();
  }

  /** The words of a refusal, made harmless. */
  static String words(byte[] data) {
    int length = Math.min(number(data), data.length - 4);
    String text = new String(data, 4, length, StandardCharsets.US_ASCII);
    return PrintableText.of(text);
  }
}
