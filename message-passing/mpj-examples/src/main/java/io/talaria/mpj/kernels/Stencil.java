// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/**
 * A sum over the 27 cells around each, with one weight for the cell itself and one each for its
 * neighbours by face, edge and corner. For one thread.
 *
 * <p>Works line by line on copies, in which all that is added has the same index: such loops become
 * vector instructions.
 */
final class Stencil {
  private final double self;
  private final double face;
  private final double edge;
  private final double corner;

  /** A line, and the ones above and below it. */
  private double[] before;

  private double[] here;
  private double[] after;

  /** The sum of the two lines at the same place in the planes beside: of each of the three. */
  private double[] besideBefore;

  private double[] beside;
  private double[] besideAfter;

  /** What a cell adds to the sum at its own place, and what to that on its left and right. */
  private final double[] centre;

  private final double[] side;

  /**
   * With weights.
   *
   * @param longest edge of a cube that it will be used on
   */
  Stencil(double self, double face, double edge, double corner, int longest) {
    this.self = self;
    this.face = face;
    this.edge = edge;
    this.corner = corner;
    int line = longest + 2;
    before = new double[line];
    here = new double[line];
    after = new double[line];
    besideBefore = new double[line];
    beside = new double[line];
    besideAfter = new double[line];
    centre = new double[line];
    side = new double[line];
  }

  /** Computes to = from - the sums over in; from and to may be the same. Wraps the result. */
  void subtract(Grid in, Grid from, Grid to) {
    for (int z = 1; z <= in.planes; z++) {
      begin(in, z);
      for (int y = 1; y <= in.n; y++) {
        next(in, z, y);
        int at = in.at(z, y);
        double[] c = centre;
        double[] s = side;
        double[] f = from.data;
        double[] t = to.data;
        for (int x = 1; x <= in.n; x++) {
          t[at + x] = f[at + x] - (c[x] + s[x - 1] + s[x + 1]);
        }
      }
    }
    to.wrap();
  }

  /** Computes to = to + the sums over in. Wraps the result. */
  void add(Grid in, Grid to) {
    for (int z = 1; z <= in.planes; z++) {
      begin(in, z);
      for (int y = 1; y <= in.n; y++) {
        next(in, z, y);
        int at = in.at(z, y);
        for (int x = 1; x <= in.n; x++) {
          to.data[at + x] += centre[x] + side[x - 1] + side[x + 1];
        }
      }
    }
    to.wrap();
  }

  private void begin(Grid in, int z) {
    load(in, z, 0);
    load(in, z, 1);
  }

  /** Takes one line more, and computes what the line before it adds. */
  private void next(Grid in, int z, int y) {
    load(in, z, y + 1);
    sum(in.line);
  }

  private void load(Grid in, int z, int y) {
    double[] oldest = before;
    before = here;
    here = after;
    after = oldest;
    oldest = besideBefore;
    besideBefore = beside;
    beside = besideAfter;
    besideAfter = oldest;
    int at = in.at(z, y);
    System.arraycopy(in.data, at, after, 0, in.line);
    double[] u = in.data;
    double[] to = besideAfter;
    int upper = at - in.plane;
    int lower = at + in.plane;
    for (int x = 0; x < in.line; x++) {
      to[x] = u[upper + x] + u[lower + x];
    }
  }

  private void sum(int length) {
    // Locals: the compiler need not look at the fields again after each store.
    double[] above = before;
    double[] line = here;
    double[] below = after;
    double[] besideAbove = besideBefore;
    double[] besideLine = beside;
    double[] besideBelow = besideAfter;
    double[] c = centre;
    double[] s = side;
    for (int x = 0; x < length; x++) {
      double faces = above[x] + below[x] + besideLine[x];
      double edges = besideAbove[x] + besideBelow[x];
      c[x] = self * line[x] + face * faces + edge * edges;
      s[x] = face * line[x] + edge * faces + corner * edges;
    }
  }
}
