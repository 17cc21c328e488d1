// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

/** Reductions of char: loops that the compiler turns into vector code. */
final class OfChar {
  private OfChar() {}

  /** Computes b = a OP b for n elements, and says whether the operation is defined. */
  static boolean apply(Arithmetic op, char[] a, int i, char[] b, int j, int n) {
    switch (op) {
      case MAX -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) Math.max(a[i + k], b[j + k]);
        }
      }
      case MIN -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) Math.min(a[i + k], b[j + k]);
        }
      }
      case SUM -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) (a[i + k] + b[j + k]);
        }
      }
      case PROD -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) (a[i + k] * b[j + k]);
        }
      }
      case BAND -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) (a[i + k] & b[j + k]);
        }
      }
      case BOR -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) (a[i + k] | b[j + k]);
        }
      }
      case BXOR -> {
        for (int k = 0; k < n; k++) {
          b[j + k] = (char) (a[i + k] ^ b[j + k]);
        }
      }
      case MAXLOC, MINLOC -> {
        boolean most = op == Arithmetic.MAXLOC;
        for (int k = 0; k < n; k += 2) {
          char left = a[i + k];
          char right = b[j + k];
          if (left == right) {
            b[j + k + 1] = (char) Math.min(a[i + k + 1], b[j + k + 1]);
          } else if (left > right == most) {
            b[j + k] = left;
            b[j + k + 1] = a[i + k + 1];
          }
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }
}
