// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.Arrays;
import mpi.MPI;

/**
 * A periodic cube of numbers, [z][y][x] with a layer around it that repeats the other end. A rank
 * has some planes of z, side by side, or all of them.
 */
final class Grid {
  private static final int UP = 1;
  private static final int DOWN = 2;

  /** Edge of the cube. */
  final int n;

  /** The first plane that is here. */
  final int first;

  /** Planes that are here. */
  final int planes;

  /** Of a line and of a plane, with the layer around. */
  final int line;

  final int plane;
  final double[] data;
  private final Stopwatch communication;

  /**
   * Zeros.
   *
   * @param n edge of the cube
   * @param shared whether each rank has a part, equal in size, or all
   * @param communication counts the time in messages
   */
  Grid(int n, boolean shared, Stopwatch communication) {
    this.n = n;
    this.communication = communication;
    planes = shared ? n / MPI.COMM_WORLD.Size() : n;
    first = shared ? planes * MPI.COMM_WORLD.Rank() : 0;
    line = n + 2;
    plane = line * line;
    data = new double[plane * (planes + 2)];
  }

  /** Whether all planes are here. */
  boolean whole() {
    return planes == n;
  }

  /** Where a line begins, its layer included; planes and lines from 1 are the cube's. */
  int at(int z, int y) {
    return z * plane + y * line;
  }

  void clear() {
    Arrays.fill(data, 0);
  }

  /** Repeats the ends in the layer around. */
  void wrap() {
    for (int z = 1; z <= planes; z++) {
      for (int y = 1; y <= n; y++) {
        int at = at(z, y);
        data[at] = data[at + n];
        data[at + n + 1] = data[at + 1];
      }
      System.arraycopy(data, at(z, n), data, at(z, 0), line);
      System.arraycopy(data, at(z, 1), data, at(z, n + 1), line);
    }
    if (whole()) {
      System.arraycopy(data, at(planes, 0), data, 0, plane);
      System.arraycopy(data, at(1, 0), data, at(planes + 1, 0), plane);
    } else {
      int size = MPI.COMM_WORLD.Size();
      int above = (MPI.COMM_WORLD.Rank() + 1) % size;
      int below = (MPI.COMM_WORLD.Rank() + size - 1) % size;
      pass(at(planes, 0), above, 0, below, UP);
      pass(at(1, 0), below, at(planes + 1, 0), above, DOWN);
    }
  }

  private void pass(int sent, int to, int received, int from, int tag) {
    communication.start();
    MPI.COMM_WORLD.Sendrecv(
        data, sent, plane, MPI.DOUBLE, to, tag, data, received, plane, MPI.DOUBLE, from, tag);
    communication.stop();
  }

  /** Takes all planes of a cube of the same size of which each rank has a part. */
  void gather(Grid part) {
    int count = part.plane * part.planes;
    double[] all = new double[plane * n];
    // Not straight behind the first layer: MPJ Express 0.44 leaves out the offset here.
    communication.start();
    MPI.COMM_WORLD.Allgather(part.data, part.plane, count, MPI.DOUBLE, all, 0, count, MPI.DOUBLE);
    communication.stop();
    System.arraycopy(all, 0, data, plane, all.length);
    wrap();
  }

  /** The root of the mean of the squares. */
  double norm() {
    double sum = 0;
    for (int z = 1; z <= planes; z++) {
      for (int y = 1; y <= n; y++) {
        int at = at(z, y);
        for (int x = 1; x <= n; x++) {
          sum += data[at + x] * data[at + x];
        }
      }
    }
    double[] mine = {sum};
    double[] all = new double[1];
    communication.start();
    MPI.COMM_WORLD.Allreduce(mine, 0, all, 0, 1, MPI.DOUBLE, MPI.SUM);
    communication.stop();
    return Math.sqrt(all[0] / ((double) n * n * n));
  }
}
