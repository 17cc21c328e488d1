// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/**
 * A sum over the 27 cells around each, with one weight for the cell itself and one each for its
 * neighbours by face, edge and corner. For one thread.
 */
final class Stencil {
  private final double self;
  private final double face;
  private final double edge;
  private final double corner;
  private final double[] faces;
  private final double[] edges;

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
    faces = new double[longest + 2];
    edges = new double[longest + 2];
  }

  /** Computes to = from - the sums over in; from and to may be the same. Wraps the result. */
  void subtract(Grid in, Grid from, Grid to) {
    for (int z = 1; z <= in.planes; z++) {
      for (int y = 1; y <= in.n; y++) {
        across(in, z, y);
        int at = in.at(z, y);
        double[] u = in.data;
        for (int x = 1; x <= in.n; x++) {
          to.data[at + x] = from.data[at + x] - sum(u, at, x);
        }
      }
    }
    to.wrap();
  }

  /** Computes to = to + the sums over in. Wraps the result. */
  void add(Grid in, Grid to) {
    for (int z = 1; z <= in.planes; z++) {
      for (int y = 1; y <= in.n; y++) {
        across(in, z, y);
        int at = in.at(z, y);
        double[] u = in.data;
        for (int x = 1; x <= in.n; x++) {
          to.data[at + x] += sum(u, at, x);
        }
      }
    }
    to.wrap();
  }

  /** For each x the sum of the four lines beside this one, and of the four lines across from it. */
  private void across(Grid in, int z, int y) {
    double[] u = in.data;
    int at = in.at(z, y);
    int line = in.line;
    int plane = in.plane;
    for (int x = 0; x < line; x++) {
      int c = at + x;
      faces[x] = u[c - line] + u[c + line] + u[c - plane] + u[c + plane];
      edges[x] =
          u[c - plane - line] + u[c - plane + line] + u[c + plane - line] + u[c + plane + line];
    }
  }

  private double sum(double[] u, int at, int x) {
    return self * u[at + x]
        + face * (u[at + x - 1] + u[at + x + 1] + faces[x])
        + edge * (edges[x] + faces[x - 1] + faces[x + 1])
        + corner * (edges[x - 1] + edges[x + 1]);
  }
}
