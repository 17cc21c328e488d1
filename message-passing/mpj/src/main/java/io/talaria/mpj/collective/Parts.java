// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

/** Division of elements into nearly equal parts. */
final class Parts {
  private Parts() {}

  static int start(int count, int parts, int part) {
    return (int) ((long) count * part / parts);
  }

  static int length(int count, int parts, int part) {
    return start(count, parts, part + 1) - start(count, parts, part);
  }
}
