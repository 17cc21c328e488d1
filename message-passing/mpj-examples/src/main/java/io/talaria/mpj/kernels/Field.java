// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/**
 * Some rows of a two-dimensional electromagnetic field on Yee's staggered grid, the electric part
 * across the plane, in units in which a wave goes half a cell in a step. Row 0 and the row behind
 * the last are the neighbours'. What a cell becomes does not depend on how the rows are shared.
 */
final class Field {
  /** Courant's number, below the limit of 1/√2. */
  private static final double COURANT = 0.5;

  final int columns;
  final int rows;
  final double[] electric;
  final double[] magneticX;
  private final double[] magneticY;
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
    electric = new double[(rows + 2) * columns];
    magneticX = new double[(rows + 2) * columns];
    magneticY = new double[(rows + 2) * columns];
  }

  /** Advances the magnetic parts; wants the electric row behind the last. */
  void magnetic() {
    for (int y = 1; y <= rows; y++) {
      int at = y * columns;
      for (int x = 0; x < columns; x++) {
        magneticX[at + x] -= COURANT * (electric[at + columns + x] - electric[at + x]);
      }
      for (int x = 0; x < columns - 1; x++) {
        magneticY[at + x] += COURANT * (electric[at + x + 1] - electric[at + x]);
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
      int at = y * columns;
      for (int x = 1; x < columns - 1; x++) {
        electric[at + x] +=
            COURANT
                * (magneticY[at + x]
                    - magneticY[at + x - 1]
                    - (magneticX[at + x] - magneticX[at - columns + x]));
      }
    }
  }

  /** Adds the source's value of a step, a Ricker wavelet, to the cell in the middle. */
  void excite(int step) {
    int row = allRows / 2 - firstRow + 1;
    if (row >= 1 && row <= rows) {
      double t = Math.PI * (0.02 * step - 1);
      electric[row * columns + columns / 2] += (1 - 2 * t * t) * Math.exp(-t * t);
    }
  }
}
