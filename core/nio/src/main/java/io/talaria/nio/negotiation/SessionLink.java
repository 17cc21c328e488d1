// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportProvider;
import java.nio.ByteBuffer;

/** What a session between hosts has that one on a host has not. Negotiation thread. */
public interface SessionLink {
  /** What the session is found by on the side that has called; no announcement is called so. */
  String name();

  /** Whether a connection is between the same two hosts, as far as addresses tell. */
  boolean joins(ConnectionKey connection);

  /** By how many bytes a sealed frame is longer. */
  int sealBytes();

  /** The frame to send instead of one. */
  ByteBuffer seal(ByteBuffer frame);

  /**
   * Checks the next frame.
   *
   * @return type and body
   * @throws MalformedFrameException if it is not what the other side has sent next
   */
  ByteBuffer open(ByteBuffer frame) throws MalformedFrameException;

  /** A transport by its name that reaches the other host, or null. */
  TransportProvider transport(String name);

  /** The peer has not said welcome. */
  void failed(Reason reason);
}
