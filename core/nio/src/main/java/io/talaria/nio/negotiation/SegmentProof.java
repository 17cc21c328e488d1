// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.nio.ByteBuffer;

/**
 * What the client's side says in an offer between network namespaces, for the server's side to
 * check with {@link SegmentEchoes}.
 *
 * @param probe the number of the probe whose answer it has received
 * @param answer the answer, which went by datagram only
 * @param end its end of the segment
 * @param ttl the time to live that it has given the packets of this connection
 */
record SegmentProof(int probe, Nonce answer, SegmentEnd end, int ttl) {
  /** Encoded size. */
  static final int BYTES = Integer.BYTES + Nonce.BYTES + 2 * Long.BYTES + 1;

  byte[] encoded() {
    return ByteBuffer.allocate(BYTES)
        .putInt(probe)
        .put(answer.bytes())
        .putLong(end.own())
        .putLong(end.neighbour())
        .put((byte) ttl)
        .array();
  }

  static SegmentProof decode(byte[] encoded) throws MalformedFrameException {
    if (encoded.length != BYTES) {
      throw new MalformedFrameException("a proof of " + encoded.length + " bytes");
    }
    ByteBuffer from = ByteBuffer.wrap(encoded);
    int probe = from.getInt();
    Nonce answer = Nonce.read(from);
    SegmentEnd end = new SegmentEnd(from.getLong(), from.getLong());
    return new SegmentProof(probe, answer, end, Byte.toUnsignedInt(from.get()));
  }
}
