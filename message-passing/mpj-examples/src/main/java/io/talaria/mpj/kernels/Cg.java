// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.Arrays;
import mpi.MPI;

/**
 * CG: the largest eigenvalue of a sparse symmetric matrix, by conjugate gradients. Each rank has
 * some rows; the direction of search is gathered whole before each product.
 */
public final class Cg {
  private static final int STEPS = 15;
  private static final int INNER = 25;

  private final int first;
  private final int rows;
  private final int[] counts;
  private final int[] places;
  private final int[] rowStart;
  private final int[] column;
  private final double[] value;
  private final double[] whole;
  private final double[] product;
  private final double[] r;
  private final double[] p;
  private final double[] z;
  private final double[] x;

  private Cg(int n, int nonzero, double shift) {
    int size = MPI.COMM_WORLD.Size();
    int rank = MPI.COMM_WORLD.Rank();
    counts = new int[size];
    places = new int[size];
    for (int i = 0; i < size; i++) {
      places[i] = Report.begin(n, i, size);
      counts[i] = Report.begin(n, i + 1, size) - places[i];
    }
    first = places[rank];
    rows = counts[rank];
    Rows made = new SparseMatrix(n, nonzero, shift).rows(first, rows);
    rowStart = made.start;
    column = made.column;
    value = made.value;
    whole = new double[n];
    product = new double[rows];
    r = new double[rows];
    p = new double[rows];
    z = new double[rows];
    x = new double[rows];
  }

  /**
   * Runs as a rank.
   *
   * @param args class of problem: S, W or A
   */
  public static void main(String[] args) {
    char problem = Report.problem(MPI.Init(args));
    int n = problem == 'S' ? 1400 : problem == 'W' ? 7000 : 14000;
    int nonzero = problem == 'S' ? 7 : problem == 'W' ? 8 : 11;
    double shift = problem == 'S' ? 10 : problem == 'W' ? 12 : 20;
    double official =
        problem == 'S' ? 8.5971775078648 : problem == 'W' ? 10.362595087124 : 17.130235054029;
    Cg cg = new Cg(n, nonzero, shift);
    Report.warmUp(
        problem == 'S',
        () -> {
          Arrays.fill(cg.x, 1);
          cg.step(shift);
        });
    Arrays.fill(cg.x, 1);
    double start = Report.now();
    double zeta = 0;
    for (int i = 0; i < STEPS; i++) {
      zeta = cg.step(shift);
    }
    double seconds = Report.slowest(start);
    double perRow = 3 + nonzero * (nonzero + 1) + 25 * (5 + nonzero * (nonzero + 1)) + 3;
    Report.end(
        "CG",
        problem,
        2.0 * STEPS * n * perRow / 1e6,
        seconds,
        Report.equal(zeta, official, 1e-10));
  }

  /** One step of inverse iteration: the estimate of the eigenvalue. */
  private double step(double shift) {
    solve();
    double[] mine = {dot(x, z), dot(z, z)};
    double[] sums = sum(mine);
    double factor = 1 / Math.sqrt(sums[1]);
    for (int i = 0; i < rows; i++) {
      x[i] = factor * z[i];
    }
    return shift + 1 / sums[0];
  }

  /** Finds z with A z = x, nearly. */
  private void solve() {
    Arrays.fill(z, 0);
    System.arraycopy(x, 0, r, 0, rows);
    System.arraycopy(x, 0, p, 0, rows);
    double rho = sum(new double[] {dot(r, r)})[0];
    for (int k = 0; k < INNER; k++) {
      multiply(p);
      double alpha = rho / sum(new double[] {dot(p, product)})[0];
      for (int i = 0; i < rows; i++) {
        z[i] += alpha * p[i];
        r[i] -= alpha * product[i];
      }
      double before = rho;
      rho = sum(new double[] {dot(r, r)})[0];
      double beta = rho / before;
      for (int i = 0; i < rows; i++) {
        p[i] = r[i] + beta * p[i];
      }
    }
    // The residual is computed as the reference does, because it belongs to the work measured.
    multiply(z);
    double residual = 0;
    for (int i = 0; i < rows; i++) {
      residual += (x[i] - product[i]) * (x[i] - product[i]);
    }
    if (Double.isNaN(sum(new double[] {residual})[0])) {
      throw new ArithmeticException("the solution is not a number");
    }
  }

  private void multiply(double[] part) {
    MPI.COMM_WORLD.Allgatherv(part, 0, rows, MPI.DOUBLE, whole, 0, counts, places, MPI.DOUBLE);
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = rowStart[i]; k < rowStart[i + 1]; k++) {
        sum += value[k] * whole[column[k]];
      }
      product[i] = sum;
    }
  }

  private double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < rows; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  private static double[] sum(double[] mine) {
    double[] sums = new double[mine.length];
    MPI.COMM_WORLD.Allreduce(mine, 0, sums, 0, mine.length, MPI.DOUBLE, MPI.SUM);
    return sums;
  }
}
