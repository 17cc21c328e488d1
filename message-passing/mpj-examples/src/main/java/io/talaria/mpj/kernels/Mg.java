// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.ArrayList;
import java.util.List;
import mpi.MPI;

/**
 * MG: Poisson's equation on a periodic cube, by V-cycles of a multigrid method. Ranks share the
 * planes of the fine grids; the grids with fewer planes than ranks, and the one above them, all
 * have whole.
 */
public final class Mg {
  private static final long SEED = 314_159_265;
  private static final int STEPS = 4;
  private static final int CHARGES = 10;

  private final int levels;

  /** Solution and residual by level; level 1 has an edge of two cells. */
  private final Grid[] u;

  private final Grid[] r;
  private final Grid v;

  /** The coarsest residual that is shared, and its level. */
  private final Grid sharedResidual;

  private final int lastShared;
  private final Stencil operator;
  private final Stencil smoother;

  /** The time in messages. */
  private final Stopwatch communication = new Stopwatch();

  private Mg(int n) {
    int size = MPI.COMM_WORLD.Size();
    if (Integer.bitCount(size) != 1 || size > n / 2) {
      throw new IllegalArgumentException(
          "MG wants a power of two of ranks, " + n / 2 + " at most, not " + size);
    }
    levels = Integer.numberOfTrailingZeros(n);
    u = new Grid[levels + 1];
    r = new Grid[levels + 1];
    int last = levels;
    for (int k = levels; k >= 1; k--) {
      boolean shared = size > 1 && (1 << k) / size >= 2;
      u[k] = new Grid(1 << k, shared, communication);
      r[k] = new Grid(1 << k, shared, communication);
      last = shared ? k : last;
    }
    lastShared = last;
    boolean anyWhole = size > 1 && lastShared > 1;
    sharedResidual = anyWhole ? new Grid(1 << (lastShared - 1), true, communication) : null;
    v = new Grid(n, size > 1, communication);
    operator = new Stencil(-8.0 / 3, 0, 1.0 / 6, 1.0 / 12, n);
    smoother = new Stencil(-3.0 / 8, 1.0 / 32, -1.0 / 64, 0, n);
  }

  /**
   * Runs as a rank.
   *
   * @param args class of problem: S, W or A
   */
  public static void main(String[] args) {
    char problem = Report.problem(MPI.Init(args));
    int n = problem == 'S' ? 32 : problem == 'W' ? 128 : 256;
    double official =
        problem == 'S'
            ? 0.5307707005734e-4
            : problem == 'W' ? 0.6467329375339e-5 : 0.2433365309069e-5;
    Mg mg = new Mg(n);
    mg.placeCharges();
    mg.operator.subtract(mg.u[mg.levels], mg.v, mg.r[mg.levels]);
    Report.warmUp(problem == 'S', mg::cycle);
    mg.u[mg.levels].clear();
    mg.communication.clear();
    double start = Report.now();
    double norm = mg.solve();
    double seconds = Report.slowest(start);
    Report.communication("MG", mg.communication, seconds);
    double operations = 58.0 * STEPS * n * n * n / 1e6;
    Report.end("MG", problem, operations, seconds, Report.equal(norm, official, 1e-8));
  }

  private double solve() {
    operator.subtract(u[levels], v, r[levels]);
    for (int i = 0; i < STEPS; i++) {
      cycle();
      operator.subtract(u[levels], v, r[levels]);
    }
    return r[levels].norm();
  }

  private void cycle() {
    for (int k = levels; k > 1; k--) {
      restrict(k);
    }
    u[1].clear();
    smoother.add(r[1], u[1]);
    for (int k = 2; k <= levels; k++) {
      if (k < levels) {
        u[k].clear();
      }
      interpolate(u[k - 1], u[k]);
      Grid given = k < levels ? r[k] : v;
      operator.subtract(u[k], given, r[k]);
      smoother.add(r[k], u[k]);
    }
  }

  /** Brings a residual to the next coarser level, where all ranks may want it whole. */
  private void restrict(int k) {
    boolean gathers = sharedResidual != null && k == lastShared;
    Grid to = gathers ? sharedResidual : r[k - 1];
    mean(r[k], to);
    if (gathers) {
      r[k - 1].gather(sharedResidual);
    } else {
      to.wrap();
    }
  }

  /** A coarse cell is the weighted mean of the 27 fine ones around the second of its two. */
  private static void mean(Grid fine, Grid coarse) {
    double[] f = fine.data;
    int line = fine.line;
    int plane = fine.plane;
    for (int z = 1; z <= coarse.planes; z++) {
      for (int y = 1; y <= coarse.n; y++) {
        int from = fine.at(2 * z, 2 * y);
        int to = coarse.at(z, y);
        for (int x = 1; x <= coarse.n; x++) {
          int c = from + 2 * x;
          double faces =
              f[c - 1] + f[c + 1] + f[c - line] + f[c + line] + f[c - plane] + f[c + plane];
          double edges =
              pairs(f, c - line) + pairs(f, c + line) + pairs(f, c - plane) + pairs(f, c + plane);
          edges += f[c - plane - line] + f[c - plane + line];
          edges += f[c + plane - line] + f[c + plane + line];
          double corners = pairs(f, c - plane - line) + pairs(f, c - plane + line);
          corners += pairs(f, c + plane - line) + pairs(f, c + plane + line);
          coarse.data[to + x] = 0.5 * f[c] + 0.25 * faces + 0.125 * edges + 0.0625 * corners;
        }
      }
    }
  }

  private static double pairs(double[] f, int at) {
    return f[at - 1] + f[at + 1];
  }

  /** Adds to each fine cell the mean of the coarse ones that it lies between. */
  private static void interpolate(Grid coarse, Grid fine) {
    int skipped = coarse.whole() && !fine.whole() ? fine.first / 2 : 0;
    double[] sums = new double[coarse.line]; // across and down, of one line
    for (int z = 1; z <= fine.planes; z++) {
      for (int y = 1; y <= fine.n; y++) {
        // An even one lies on a coarse one, an odd one between two; as the weights 1/2 and 1/2.
        int upper = coarse.at((z + 1) / 2 + skipped, (y + 1) / 2);
        int across = y % 2 == 0 ? 0 : coarse.line;
        int down = z % 2 == 0 ? 0 : coarse.plane;
        double[] c = coarse.data;
        for (int x = 0; x <= coarse.n; x++) {
          int a = upper + x;
          sums[x] = c[a] + c[a - across] + c[a - down] + c[a - down - across];
        }
        double[] f = fine.data;
        int to = fine.at(z, y);
        for (int x = 1; x <= coarse.n; x++) {
          f[to + 2 * x - 1] += 0.125 * (sums[x - 1] + sums[x]);
          f[to + 2 * x] += 0.25 * sums[x];
        }
      }
    }
    fine.wrap();
  }

  /** Ones where the ten largest of as many random numbers as cells are, less ones at the least. */
  private void placeCharges() {
    int n = v.n;
    Lcg random = new Lcg(SEED);
    List<double[]> least = new ArrayList<>();
    List<double[]> most = new ArrayList<>();
    for (int i = 0; i < n * n * n; i++) {
      double number = random.next();
      keep(most, number, i);
      keep(least, -number, i);
    }
    place(most, 1);
    place(least, -1);
    v.wrap();
  }

  /** Keeps the largest ones in order, the largest first. */
  private static void keep(List<double[]> list, double number, int cell) {
    if (list.size() == CHARGES && list.get(CHARGES - 1)[0] >= number) {
      return;
    }
    int place = list.size();
    while (place > 0 && list.get(place - 1)[0] < number) {
      place--;
    }
    list.add(place, new double[] {number, cell});
    if (list.size() > CHARGES) {
      list.remove(CHARGES);
    }
  }

  private void place(List<double[]> cells, double charge) {
    for (double[] each : cells) {
      int cell = (int) each[1];
      int z = cell / (v.n * v.n) - v.first;
      if (z >= 0 && z < v.planes) {
        v.data[v.at(z + 1, cell / v.n % v.n + 1) + cell % v.n + 1] = charge;
      }
    }
  }
}
