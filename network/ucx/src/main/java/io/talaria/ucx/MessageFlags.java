// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

/**
 * How an active message is sent: bits to be joined by {@code |} with each other and with those of
 * {@link SendFlags} ({@code ucp_send_am_flags}).
 */
public final class MessageFlags {
  /** Have the receiver told by which endpoint it can answer: {@link ActiveMessage#reply}. */
  public static final int REPLY = 16;

  /** Send the data along at once, whatever their length. */
  public static final int EAGER = 32;

  /** Send the data only when the receiver asks for them. */
  public static final int RENDEZVOUS = 64;

  private MessageFlags() {}
}
