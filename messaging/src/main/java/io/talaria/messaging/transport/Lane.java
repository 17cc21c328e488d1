// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

/** The two rings of a direction. */
public final class Lane {
  /** Messages and requests: read only as fast as the program takes them. */
  public static final int BULK = 0;

  /** Responses and control: always read at once. */
  public static final int EXPRESS = 1;

  /** How many there are. */
  public static final int COUNT = 2;

  private Lane() {}
}
