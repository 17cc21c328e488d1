// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/** Some rows of a sparse matrix. */
final class Rows {
  /** Where each row begins in the others, and where the last one ends. */
  final int[] start;

  /** The column of each element, rising within a row. */
  final int[] column;

  final double[] value;

  Rows(int[] start, int[] column, double[] value) {
    this.start = start;
    this.column = column;
    this.value = value;
  }
}
