// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

/** A piece of what has been received and is not read. */
final class Slab {
  static final int BYTES = 16 << 10;

  final byte[] bytes = new byte[BYTES];
  int from;
  int to;
  Slab next;
}
