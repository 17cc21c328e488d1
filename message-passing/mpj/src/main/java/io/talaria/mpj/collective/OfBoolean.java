// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

/** Reductions of boolean. */
final class OfBoolean {
  private OfBoolean() {}

  /** Computes b = a OP b for n elements, and says whether the operation is defined. */
  static boolean apply(Arithmetic op, boolean[] a, int i, boolean[] b, int j, int n) {
    switch (op) {
      case LAND, BAND -> {
        for (int k = 0; k < n; k++) {
          b[j + k] &= a[i + k];
        }
      }
      case LOR, BOR -> {
        for (int k = 0; k < n; k++) {
          b[j + k] |= a[i + k];
        }
      }
      case LXOR, BXOR -> {
        for (int k = 0; k < n; k++) {
          b[j + k] ^= a[i + k];
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }
}
