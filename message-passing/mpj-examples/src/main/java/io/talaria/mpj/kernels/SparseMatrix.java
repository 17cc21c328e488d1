// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.Arrays;

/**
 * The matrix of {@link Cg}: a sum of n products of a sparse random vector with itself, whose
 * weights fall from 1 to a tenth, plus a tenth less the shift on the diagonal. All ranks make all
 * vectors, and keep their own rows of the sum.
 */
final class SparseMatrix {
  private static final long SEED = 314_159_265;
  private static final double CONDITION = 0.1;
  private static final double DIAGONAL = 0.5;

  private final int n;
  private final double shift;
  private final int[][] places;
  private final double[][] values;

  SparseMatrix(int n, int nonzero, double shift) {
    this.n = n;
    this.shift = shift;
    places = new int[n][];
    values = new double[n][];
    Lcg random = new Lcg(SEED);
    random.next();
    int powerOfTwo = Integer.highestOneBit(n - 1) * 2;
    for (int i = 0; i < n; i++) {
      vector(i, nonzero, powerOfTwo, random);
    }
  }

  /** Makes a vector with some elements anywhere, and one half at its own place. */
  private void vector(int own, int nonzero, int powerOfTwo, Lcg random) {
    int[] place = new int[nonzero + 1];
    double[] value = new double[nonzero + 1];
    int count = 0;
    while (count < nonzero) {
      double element = random.next();
      int at = (int) (powerOfTwo * random.next());
      if (at < n && indexOf(place, count, at) < 0) {
        place[count] = at;
        value[count++] = element;
      }
    }
    int there = indexOf(place, count, own);
    if (there >= 0) {
      value[there] = DIAGONAL;
    } else {
      place[count] = own;
      value[count++] = DIAGONAL;
    }
    places[own] = Arrays.copyOf(place, count);
    values[own] = Arrays.copyOf(value, count);
  }

  private static int indexOf(int[] places, int count, int at) {
    for (int i = 0; i < count; i++) {
      if (places[i] == at) {
        return i;
      }
    }
    return -1;
  }

  /** The sum's rows from one on. */
  Rows rows(int first, int count) {
    int[] most = new int[count + 1];
    for (int[] place : places) {
      for (int row : place) {
        if (row >= first && row < first + count) {
          most[row - first + 1] += place.length;
        }
      }
    }
    for (int i = 0; i < count; i++) {
      most[i + 1] += most[i];
    }
    int[] end = Arrays.copyOf(most, count);
    int[] column = new int[most[count]];
    double[] value = new double[most[count]];
    double ratio = Math.pow(CONDITION, 1.0 / n);
    double weight = 1;
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < places[i].length; k++) {
        int row = places[i][k] - first;
        if (row >= 0 && row < count) {
          for (int m = 0; m < places[i].length; m++) {
            double element = weight * values[i][k] * values[i][m];
            if (places[i][k] == i && places[i][m] == i) {
              element += CONDITION - shift;
            }
            end[row] = add(places[i][m], element, column, value, most[row], end[row]);
          }
        }
      }
      weight *= ratio;
    }
    return packed(count, most, end, column, value);
  }

  /** Adds to an element of a row, which stays ordered; returns the row's new end. */
  private static int add(int at, double element, int[] column, double[] value, int start, int end) {
    int found = Arrays.binarySearch(column, start, end, at);
    if (found >= 0) {
      value[found] += element;
      return end;
    }
    int place = -found - 1;
    System.arraycopy(column, place, column, place + 1, end - place);
    System.arraycopy(value, place, value, place + 1, end - place);
    column[place] = at;
    value[place] = element;
    return end + 1;
  }

  private static Rows packed(int count, int[] start, int[] end, int[] column, double[] value) {
    int[] packed = new int[count + 1];
    int to = 0;
    for (int i = 0; i < count; i++) {
      int length = end[i] - start[i];
      System.arraycopy(column, start[i], column, to, length);
      System.arraycopy(value, start[i], value, to, length);
      to += length;
      packed[i + 1] = to;
    }
    return new Rows(packed, Arrays.copyOf(column, to), Arrays.copyOf(value, to));
  }
}
