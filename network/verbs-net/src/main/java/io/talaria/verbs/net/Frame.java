// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.nio.authentication.KeyProof;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A frame of the exchange that sets connections up, most significant byte first:
 *
 * <pre>{@code
 *  0  magic "TVN1"            4
 *  4  version                 2
 *  6  type                    1
 *  7  flags: 1 authenticated  1
 *  8  length of the frame     2     at most 512
 * 10  zero                    2
 * 12  nonce of the sender    32
 * 44  body                    -     of OFFER and ANSWER an Offer, of REFUSAL words
 *     proof                  32     if authenticated, not in CHALLENGE and REFUSAL
 * }</pre>
 */
final class Frame {
  static final int MAGIC = 0x54564e31;
  static final int VERSION = 2;
  static final int MAX_BYTES = 512;
  static final int HEADER_BYTES = 44;
  static final int AUTHENTICATED = 1;

  static final byte CHALLENGE = 1;
  static final byte OFFER = 2;
  static final byte ANSWER = 3;
  static final byte READY = 4;
  static final byte REFUSAL = 5;

  private static final int LENGTH_AT = 8;
  private static final int PREFIX_BYTES = 12;

  private Frame() {}

  /** A frame without proof, whose length counts one if it is to come. */
  static ByteBuffer write(byte type, byte[] nonce, byte[] body, boolean proved, boolean keyed) {
    int length = HEADER_BYTES + body.length + (proved ? KeyProof.PROOF_BYTES : 0);
    ByteBuffer frame = ByteBuffer.allocate(length);
    frame.putInt(MAGIC).putShort((short) VERSION).put(type);
    frame.put((byte) (keyed ? AUTHENTICATED : 0)).putShort((short) length).putShort((short) 0);
    frame.put(nonce).put(body);
    return frame;
  }

  /** How long the frame is whose first bytes are there; checks them. */
  static int length(ByteBuffer prefix) throws IOException {
    int magic = prefix.getInt(0);
    if (magic != MAGIC) {
      throw new ExchangeException(
          "the peer does not speak this protocol: it begins with 0x" + Integer.toHexString(magic));
    }
    int version = prefix.getShort(4) & 0xffff;
    if (version != VERSION) {
      throw new ExchangeException(
          "the peer speaks version " + version + " of the protocol, this side version " + VERSION);
    }
    int length = prefix.getShort(LENGTH_AT) & 0xffff;
    if (length < HEADER_BYTES || length > MAX_BYTES) {
      throw new ExchangeException(
          "a frame of " + length + " bytes, but there are " + HEADER_BYTES + " to " + MAX_BYTES);
    }
    return length;
  }

  static int prefixBytes() {
    return PREFIX_BYTES;
  }

  static byte[] nonce(ByteBuffer frame) {
    byte[] nonce = new byte[KeyProof.NONCE_BYTES];
    frame.get(PREFIX_BYTES, nonce);
    return nonce;
  }

  static byte type(ByteBuffer frame) {
    return frame.get(6);
  }

  static boolean keyed(ByteBuffer frame) {
    return (frame.get(7) & AUTHENTICATED) != 0;
  }
}
