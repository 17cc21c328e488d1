// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/**
 * Some rows of a two-dimensional electromagnetic field on Yee's staggered grid, the electric part
 * across the plane, in units in which a wave goes half a cell in a step. Row 0 and the row behind
 * the last are the neighbours'. What a cell becomes does not depend on how the rows are shared.
 *
 * <p>A row is an array, and where a cell needs its left or right neighbour a copy of the row is
 * shifted by one: loops with the same index in all arrays become vector instructions.
 */
final class Field {
  /** Courant's number, below the limit of 1/√2. */
  private static final double COURANT = 0.5;

  final int columns;
  final int rows;
  final double[][] electric;
  final double[][] magneticX;
  private final double[][] magneticY;
  private final double[] shifted;
  private final int firstRow;
  private final int allRows;

  /**
   * All zeros.
   *
   * @param columns cells of a row
   * @param allRows rows of the whole field
   * @param firstRow the first of them that is here
   * @param rows how many are here
   */
  Field(int columns, int allRows, int firstRow, int rows) {
    this.columns = columns;
    this.allRows = allRows;
    this.firstRow = firstRow;
    this.rows = rows;
    electric = new double[rows + 2][columns];
    magneticX = new double[rows + 2][columns];
    magneticY = new double[rows + 2][columns];
    shifted = new double[columns];
  }

  /** Advances the magnetic parts; wants the electric row behind the last. */
  void magnetic() {
    for (int y = 1; y <= rows; y++) {
      double[] here = electric[y];
      double[] behind = electric[y + 1];
      double[] mx = magneticX[y];
      for (int x = 0; x < columns; x++) {
        mx[x] -= COURANT * (behind[x] - here[x]);
      }
      double[] right = shifted;
      System.arraycopy(here, 1, right, 0, columns - 1);
      double[] my = magneticY[y];
      for (int x = 0; x < columns - 1; x++) {
        my[x] += COURANT * (right[x] - here[x]);
      }
    }
  }

  /** Advances the electric part but for the walls, which conduct; wants the magnetic row 0. */
  void electric() {
    for (int y = 1; y <= rows; y++) {
      int row = firstRow + y - 1;
      if (row == 0 || row == allRows - 1) {
        continue;
      }
      double[] here = electric[y];
      double[] mx = magneticX[y];
      double[] before = magneticX[y - 1];
      double[] my = magneticY[y];
      double[] left = shifted;
      System.arraycopy(my, 0, left, 1, columns - 1);
      for (int x = 1; x < columns - 1; x++) {
        here[x] += COURANT * (my[x] - left[x] - (mx[x] - before[x]));
      }
    }
  }

  /** Adds the source's value of a step, a Ricker wavelet, to the cell in the middle. */
  void excite(int step) {
    int row = allRows / 2 - firstRow + 1;
    if (row >= 1 && row <= rows) {
      double t = Math.PI * (0.02 * step - 1);
      electric[row][columns / 2] += (1 - 2 * t * t) * Math.exp(-t * t);
    }
  }
}
