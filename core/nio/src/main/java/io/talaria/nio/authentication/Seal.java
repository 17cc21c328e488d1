// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.authentication;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SignatureException;
import java.util.Arrays;
import javax.crypto.Mac;

/**
 * Keeps the frames of a session between hosts from being changed, repeated, left out or made up: a
 * tag stands behind each, made with the session's key of that direction over the frame and its
 * number. Frames are not encrypted. Negotiation thread.
 *
 * <pre>
 *   frame   length:2 (of type, body and tag)  type:1  body  tag:16
 *   tag     the first 16 bytes of HMAC-SHA256(key, number:8 length:2 type body)
 * </pre>
 */
public final class Seal {
  public static final int TAG_BYTES = 16;

  private static final int LENGTH_BYTES = Short.BYTES;

  private final Mac out;
  private final Mac in;
  private long sent;
  private long received;

  public Seal(byte[] outKey, byte[] inKey) {
    out = KeyProof.mac(outKey);
    in = KeyProof.mac(inKey);
  }

  /** The frame to send instead of one, which has its length in front. */
  public ByteBuffer close(ByteBuffer frame) {
    ByteBuffer sealed = ByteBuffer.allocate(frame.remaining() + TAG_BYTES);
    sealed.put(frame);
    sealed.putShort(0, (short) (sealed.capacity() - LENGTH_BYTES));
    sealed.put(tag(out, sent++, sealed.duplicate().flip())).flip();
    return sealed;
  }

  /**
   * Checks the next frame.
   *
   * @param frame type, body and tag
   * @return type and body
   * @throws SignatureException if it is not what the other side has sent next
   */
  public ByteBuffer open(ByteBuffer frame) throws SignatureException {
    int length = frame.remaining() - TAG_BYTES;
    if (length < 1) {
      throw new SignatureException("a frame without its tag");
    }
    ByteBuffer tagged = ByteBuffer.allocate(LENGTH_BYTES + length);
    tagged.putShort((short) frame.remaining());
    tagged.put(frame.slice(frame.position(), length)).flip();
    byte[] tag = new byte[TAG_BYTES];
    frame.get(frame.position() + length, tag);
    if (!MessageDigest.isEqual(tag, tag(in, received++, tagged))) {
      throw new SignatureException("a frame with another tag than its own");
    }
    return frame.slice(frame.position(), length);
  }

  private static byte[] tag(Mac mac, long number, ByteBuffer frame) {
    mac.update(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
    mac.update(frame);
    return Arrays.copyOf(mac.doFinal(), TAG_BYTES);
  }
}
