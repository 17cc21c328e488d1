// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import io.talaria.nio.Reason;
import java.nio.ByteBuffer;

/**
 * One side's half of an upgrade under negotiation. Used by the negotiation thread only.
 *
 * <p>The connecting side sends {@link #payload} with its offer; the accepting side makes its half
 * from that and sends its own payload back; the connecting side takes it in {@link #answered}. Then
 * both attach {@link #stream} to their channels.
 */
public interface Upgrade {

  /** What the other side needs to know, at most {@link TransportProvider#MAX_PAYLOAD_BYTES}. */
  ByteBuffer payload();

  /**
   * Takes the accepting side's payload, on the connecting side.
   *
   * @throws TransportException if it is malformed
   */
  void answered(ByteBuffer payload) throws TransportException;

  /**
   * Why the stream is of no use, which shows once it is {@link #answered}; null if it is of use.
   * Else the connection stays on TCP, and the caller withdraws and releases the stream.
   */
  default Reason worthless() {
    return null;
  }

  /** The stream, valid until it is released. */
  TransportStream stream();

  /** Gives the upgrade up before the stream was attached to a channel, and releases everything. */
  void cancel(Reason reason);
}
