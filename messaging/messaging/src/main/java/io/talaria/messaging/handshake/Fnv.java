// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import java.nio.charset.StandardCharsets;

/**
 * The hash FNV-1a of 64 bits, by which two nodes compare the names of their clusters and the forms
 * of their types. It finds differences, not forgeries.
 */
public final class Fnv {
  private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private Fnv() {}

  /** Of the text's bytes in UTF-8. */
  public static long hash(String text) {
    long hash = OFFSET_BASIS;
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (each & 0xff)) * PRIME;
    }
    return hash;
  }
}
