// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import mpi.MPI;

/**
 * FT: a partial differential equation in three dimensions, solved by Fourier transforms. Each rank
 * has some planes of z; for the transform along z the data are turned by an Alltoall, so that each
 * rank has some planes of y.
 *
 * <p>Complex numbers lie as [z][y][x], x side by side, and turned as [y][x][z].
 */
public final class Ft {
  private static final long SEED = 314_159_265;
  private static final double ALPHA = 1e-6;
  private static final int STEPS = 6;
  private static final int CHECKED = 1024;

  /** Where data are turned: so many numbers along x at once, whose lines of z a cache holds. */
  private static final int TILE = 16;

  private final int nx;
  private final int ny;
  private final int nz;
  private final int size;
  private final int rank;

  /** Planes of z, and of y, that this rank has. */
  private final int planesZ;

  private final int planesY;
  private final Fft alongX;
  private final Fft alongY;
  private final Fft alongZ;
  private final double[] planes;
  private final double[] turned;
  private final double[] spectrum;
  private final double[] packed;
  private final double[] factors;

  /** The time in messages. */
  private final Stopwatch communication = new Stopwatch();

  private Ft(int nx, int ny, int nz) {
    this.nx = nx;
    this.ny = ny;
    this.nz = nz;
    size = MPI.COMM_WORLD.Size();
    rank = MPI.COMM_WORLD.Rank();
    if (nz % size != 0 || ny % size != 0) {
      throw new IllegalArgumentException(
          "FT wants a number of ranks that divides " + ny + " and " + nz + ", not " + size);
    }
    planesZ = nz / size;
    planesY = ny / size;
    alongX = new Fft(nx);
    alongY = new Fft(ny);
    alongZ = new Fft(nz);
    int numbers = nx * ny * planesZ;
    planes = new double[2 * numbers];
    turned = new double[2 * numbers];
    spectrum = new double[2 * numbers];
    packed = new double[2 * numbers];
    factors = new double[numbers];
  }

  /**
   * Runs as a rank.
   *
   * @param args class of problem: S, W or A
   */
  public static void main(String[] args) {
    char problem = Report.problem(MPI.Init(args));
    Ft ft =
        problem == 'S'
            ? new Ft(64, 64, 64)
            : problem == 'W' ? new Ft(128, 128, 32) : new Ft(256, 256, 128);
    Report.warmUp(problem == 'S', () -> ft.run(1, new double[2]));
    ft.communication.clear();
    double start = Report.now();
    double[] sums = new double[2 * STEPS];
    ft.run(STEPS, sums);
    double seconds = Report.slowest(start);
    Report.communication("FT", ft.communication, seconds);
    double[] official = FtSums.of(problem);
    boolean verified = true;
    for (int i = 0; i < sums.length; i++) {
      verified &= Report.equal(sums[i], official[i], 1e-12);
    }
    double n = (double) ft.nx * ft.ny * ft.nz;
    double perNumber = 14.8157 + 7.19641 * Math.log(n) + (5.23518 + 7.21113 * Math.log(n)) * STEPS;
    Report.end("FT", problem, n * perNumber / 1e6, seconds, verified);
  }

  private void run(int steps, double[] sums) {
    prepareFactors();
    fillWithNumbers();
    forward();
    System.arraycopy(turned, 0, spectrum, 0, turned.length);
    for (int t = 0; t < steps; t++) {
      for (int i = 0; i < factors.length; i++) {
        spectrum[2 * i] *= factors[i];
        spectrum[2 * i + 1] *= factors[i];
        turned[2 * i] = spectrum[2 * i];
        turned[2 * i + 1] = spectrum[2 * i + 1];
      }
      backward();
      checksum(sums, 2 * t);
    }
  }

  private void fillWithNumbers() {
    Lcg random = new Lcg(SEED).skip(2L * nx * ny * planesZ * rank);
    for (int i = 0; i < planes.length; i++) {
      planes[i] = random.next();
    }
  }

  /** What a wave is multiplied by in a step, by its number of waves along each axis. */
  private void prepareFactors() {
    double exponent = -4 * ALPHA * Math.PI * Math.PI;
    int at = 0;
    for (int y = 0; y < planesY; y++) {
      for (int x = 0; x < nx; x++) {
        double flat = square(x, nx) + square(rank * planesY + y, ny);
        for (int z = 0; z < nz; z++) {
          factors[at++] = Math.exp(exponent * (flat + square(z, nz)));
        }
      }
    }
  }

  /** The upper half of the indices stands for negative numbers of waves. */
  private static double square(int index, int n) {
    double waves = index < n / 2 ? index : index - n;
    return waves * waves;
  }

  private void forward() {
    planesOfZ(1);
    // [z][y][x] to a block for each rank: its y, all x, this rank's z.
    for (int y = 0; y < ny; y++) {
      for (int x = 0; x < nx; x += TILE) {
        for (int z = 0; z < planesZ; z++) {
          int from = (z * ny + y) * nx;
          int to = y * nx * planesZ + z;
          for (int i = x; i < x + TILE; i++) {
            copy(planes, from + i, packed, to + i * planesZ);
          }
        }
      }
    }
    exchange(packed, spectrum);
    // From each rank its z, of this rank's y and all x.
    int block = planesY * nx;
    for (int from = 0; from < size; from++) {
      for (int line = 0; line < block; line++) {
        int source = 2 * ((from * block + line) * planesZ);
        System.arraycopy(spectrum, source, turned, 2 * (line * nz + from * planesZ), 2 * planesZ);
      }
    }
    alongZ.transform(turned, 0, 1, planesY * nx, nz, 1);
  }

  private void backward() {
    alongZ.transform(turned, 0, 1, planesY * nx, nz, -1);
    int block = planesY * nx;
    for (int to = 0; to < size; to++) {
      for (int line = 0; line < block; line++) {
        int target = 2 * ((to * block + line) * planesZ);
        System.arraycopy(turned, 2 * (line * nz + to * planesZ), packed, target, 2 * planesZ);
      }
    }
    exchange(packed, turned);
    for (int y = 0; y < ny; y++) {
      for (int x = 0; x < nx; x += TILE) {
        for (int z = 0; z < planesZ; z++) {
          int from = y * nx * planesZ + z;
          int to = (z * ny + y) * nx;
          for (int i = x; i < x + TILE; i++) {
            copy(turned, from + i * planesZ, planes, to + i);
          }
        }
      }
    }
    planesOfZ(-1);
  }

  private void planesOfZ(int sign) {
    for (int z = 0; z < planesZ; z++) {
      int plane = z * ny * nx;
      alongX.transform(planes, plane, 1, ny, nx, sign);
      alongY.transform(planes, plane, nx, nx, 1, sign);
    }
  }

  private void exchange(double[] from, double[] to) {
    int each = from.length / size;
    communication.start();
    MPI.COMM_WORLD.Alltoall(from, 0, each, MPI.DOUBLE, to, 0, each, MPI.DOUBLE);
    communication.stop();
  }

  private static void copy(double[] from, int source, double[] to, int target) {
    to[2 * target] = from[2 * source];
    to[2 * target + 1] = from[2 * source + 1];
  }

  /** The mean of 1,024 numbers all over the space, as the reports choose them. */
  private void checksum(double[] sums, int at) {
    double re = 0;
    double im = 0;
    for (int j = 1; j <= CHECKED; j++) {
      int z = 5 * j % nz - rank * planesZ;
      if (z >= 0 && z < planesZ) {
        int number = (z * ny + 3 * j % ny) * nx + j % nx;
        re += planes[2 * number];
        im += planes[2 * number + 1];
      }
    }
    double n = (double) nx * ny * nz;
    double[] mine = {re / n, im / n};
    double[] all = new double[2];
    // Not straight to its place in sums: MPJ Express 0.44 adds nothing where there is an offset.
    communication.start();
    MPI.COMM_WORLD.Allreduce(mine, 0, all, 0, 2, MPI.DOUBLE, MPI.SUM);
    communication.stop();
    System.arraycopy(all, 0, sums, at, 2);
  }
}
