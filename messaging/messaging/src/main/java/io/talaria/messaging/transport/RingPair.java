// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

/** The two rings of a direction, identified by their priorities. */
public final class RingPair {
  /** Messages and requests; read only as fast as the program handles them. */
  public static final int DATA = 0;

  /** Responses and control records; always read at once. */
  public static final int CONTROL = 1;

  /** The number of priorities. */
  public static final int COUNT = 2;

  private RingPair() {}
}
