// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel io.talaria.mpj.kernels.Ft in C: the same steps on the same data, for comparison.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common.h"

#define STEPS 6
#define CHECKED 1024
#define TILE 16
#define BATCH 64

static int nx, ny, nz, planesZ, planesY;
static double *planes, *turned, *spectrum, *packed, *factors;
static double communication;

static const double SUMS[3][2 * STEPS] = {
    {554.6087004964, 484.5363331978, 554.6385409189, 486.5304269511,
     554.6148406171, 488.3910722336, 554.5423607415, 490.1273169046,
     554.4255039624, 491.7475857993, 554.2683411902, 493.2597244941},
    {567.3612178944, 529.3246849175, 563.1436885271, 528.2149986629,
     559.4024089970, 527.0996558037, 556.0698047020, 526.0027904925,
     553.0898991250, 524.9400845633, 550.4159734538, 523.9212247086},
    {504.6735008193, 511.4047905510, 505.9412319734, 509.8809666433,
     506.9376896287, 509.8144042213, 507.7892868474, 510.1336130759,
     508.5233095391, 510.4914655194, 509.1487099959, 510.7917842803}};

typedef struct {
  int n;
  int *mirrored;
  double *cosine, *sine, *real, *imaginary; // by the place in the line, and then by line
} fft;

static fft alongX, alongY, alongZ;

static fft prepare(int n) {
  fft f;
  f.n = n;
  f.mirrored = memory(n * sizeof(int));
  f.cosine = memory(n / 2 * sizeof(double));
  f.sine = memory(n / 2 * sizeof(double));
  f.real = memory(n * BATCH * sizeof(double));
  f.imaginary = memory(n * BATCH * sizeof(double));
  for (int i = 0; i < n; i++) {
    int m = 0;
    for (int bit = 1, other = n / 2; bit < n; bit *= 2, other /= 2) {
      if (i & bit) m |= other;
    }
    f.mirrored[i] = m;
  }
  for (int i = 0; i < n / 2; i++) {
    f.cosine[i] = cos(2 * M_PI * i / n);
    f.sine[i] = sin(2 * M_PI * i / n);
  }
  return f;
}

static void take(const fft *f, const double *data, long first, int i, int stride, int count,
                 int step) {
  double *restrict re[4];
  double *restrict im[4];
  for (int j = 0; j < 4; j++) {
    re[j] = f->real + f->mirrored[i + j] * BATCH;
    im[j] = f->imaginary + f->mirrored[i + j] * BATCH;
  }
  const double *from = data + 2 * (first + (long)i * stride);
  for (int line = 0; line < count; line++, from += 2 * step) {
    for (int j = 0; j < 4; j++) {
      re[j][line] = from[2 * j * stride];
      im[j][line] = from[2 * j * stride + 1];
    }
  }
}

static void give(const fft *f, double *restrict data, long first, int i, int stride, int count,
                 int step) {
  const double *re = f->real + i * BATCH;
  const double *im = f->imaginary + i * BATCH;
  double *to = data + 2 * (first + (long)i * stride);
  for (int line = 0; line < count; line++, to += 2 * step) {
    for (int j = 0; j < 4; j++) {
      to[2 * j * stride] = re[j * BATCH + line];
      to[2 * j * stride + 1] = im[j * BATCH + line];
    }
  }
}

static void join(double *restrict reA, double *restrict imA, double *restrict reB,
                 double *restrict imB, double c, double s, int count) {
  for (int i = 0; i < count; i++) {
    double re = c * reB[i] - s * imB[i];
    double im = c * imB[i] + s * reB[i];
    reB[i] = reA[i] - re;
    imB[i] = imA[i] - im;
    reA[i] += re;
    imA[i] += im;
  }
}

static void lines(const fft *f, double *data, long first, int stride, int count, int step,
                  int sign) {
  int n = f->n;
  for (int done = 0; done < count; done += BATCH) {
    int now = count - done < BATCH ? count - done : BATCH;
    long from = first + (long)done * step;
    for (int i = 0; i < n; i += 4) take(f, data, from, i, stride, now, step);
    for (int half = 1; half < n; half *= 2) {
      int turn = n / 2 / half;
      for (int block = 0; block < n; block += 2 * half) {
        for (int k = 0; k < half; k++) {
          int a = (block + k) * BATCH;
          int b = a + half * BATCH;
          join(f->real + a, f->imaginary + a, f->real + b, f->imaginary + b, f->cosine[k * turn],
               sign * f->sine[k * turn], now);
        }
      }
    }
    for (int i = 0; i < n; i += 4) give(f, data, from, i, stride, now, step);
  }
}

static void fillWithNumbers(void) {
  uint64_t x = after(314159265, 2ULL * nx * ny * planesZ * rank);
  long count = 2L * nx * ny * planesZ;
  for (long i = 0; i < count; i++) {
    x = times(x, FACTOR);
    planes[i] = x * (1.0 / (1ULL << 46));
  }
}

static double square(int index, int n) {
  double waves = index < n / 2 ? index : index - n;
  return waves * waves;
}

static void prepareFactors(void) {
  double exponent = -4 * 1e-6 * M_PI * M_PI;
  long at = 0;
  for (int y = 0; y < planesY; y++) {
    for (int x = 0; x < nx; x++) {
      double flat = square(x, nx) + square(rank * planesY + y, ny);
      for (int z = 0; z < nz; z++) factors[at++] = exp(exponent * (flat + square(z, nz)));
    }
  }
}

static void planesOfZ(int sign) {
  for (int z = 0; z < planesZ; z++) {
    long plane = (long)z * ny * nx;
    lines(&alongX, planes, plane, 1, ny, nx, sign);
    lines(&alongY, planes, plane, nx, nx, 1, sign);
  }
}

static void exchange(double *from, double *to) {
  int each = 2 * nx * ny * planesZ / size;
  double start = MPI_Wtime();
  MPI_Alltoall(from, each, MPI_DOUBLE, to, each, MPI_DOUBLE, MPI_COMM_WORLD);
  communication += MPI_Wtime() - start;
}

static void copy(const double *from, long source, double *to, long target) {
  to[2 * target] = from[2 * source];
  to[2 * target + 1] = from[2 * source + 1];
}

static void forward(void) {
  planesOfZ(1);
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x += TILE)
      for (int z = 0; z < planesZ; z++)
        for (int i = x; i < x + TILE; i++)
          copy(planes, ((long)z * ny + y) * nx + i, packed, ((long)y * nx + i) * planesZ + z);
  exchange(packed, spectrum);
  long block = (long)planesY * nx;
  for (int from = 0; from < size; from++)
    for (long line = 0; line < block; line++)
      memcpy(turned + 2 * (line * nz + from * planesZ),
             spectrum + 2 * ((from * block + line) * planesZ), 2 * planesZ * sizeof(double));
  lines(&alongZ, turned, 0, 1, planesY * nx, nz, 1);
}

static void backward(void) {
  lines(&alongZ, turned, 0, 1, planesY * nx, nz, -1);
  long block = (long)planesY * nx;
  for (int to = 0; to < size; to++)
    for (long line = 0; line < block; line++)
      memcpy(packed + 2 * ((to * block + line) * planesZ), turned + 2 * (line * nz + to * planesZ),
             2 * planesZ * sizeof(double));
  exchange(packed, turned);
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x += TILE)
      for (int z = 0; z < planesZ; z++)
        for (int i = x; i < x + TILE; i++)
          copy(turned, ((long)y * nx + i) * planesZ + z, planes, ((long)z * ny + y) * nx + i);
  planesOfZ(-1);
}

static void checksum(double *sums) {
  double mine[2] = {0, 0};
  for (int j = 1; j <= CHECKED; j++) {
    int z = 5 * j % nz - rank * planesZ;
    if (z >= 0 && z < planesZ) {
      long number = ((long)z * ny + 3 * j % ny) * nx + j % nx;
      mine[0] += planes[2 * number];
      mine[1] += planes[2 * number + 1];
    }
  }
  double n = (double)nx * ny * nz;
  mine[0] /= n;
  mine[1] /= n;
  double start = MPI_Wtime();
  MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  communication += MPI_Wtime() - start;
}

static void run(int steps, double *sums) {
  long numbers = (long)nx * ny * planesZ;
  prepareFactors();
  fillWithNumbers();
  forward();
  memcpy(spectrum, turned, 2 * numbers * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (long i = 0; i < numbers; i++) {
      spectrum[2 * i] *= factors[i];
      spectrum[2 * i + 1] *= factors[i];
      turned[2 * i] = spectrum[2 * i];
      turned[2 * i + 1] = spectrum[2 * i + 1];
    }
    backward();
    checksum(sums + 2 * t);
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  char problem = argc > 1 ? argv[1][0] : 'S';
  int kind = problem == 'S' ? 0 : problem == 'W' ? 1 : 2;
  nx = ny = kind == 0 ? 64 : kind == 1 ? 128 : 256;
  nz = kind == 0 ? 64 : kind == 1 ? 32 : 128;
  if (nz % size != 0 || ny % size != 0) {
    fprintf(stderr, "FT wants a number of ranks that divides %d and %d, not %d\n", ny, nz, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  planesZ = nz / size;
  planesY = ny / size;
  alongX = prepare(nx);
  alongY = prepare(ny);
  alongZ = prepare(nz);
  size_t numbers = (size_t)nx * ny * planesZ;
  planes = memory(2 * numbers * sizeof(double));
  turned = memory(2 * numbers * sizeof(double));
  spectrum = memory(2 * numbers * sizeof(double));
  packed = memory(2 * numbers * sizeof(double));
  factors = memory(numbers * sizeof(double));
  double sums[2 * STEPS];
  run(1, sums);
  MPI_Barrier(MPI_COMM_WORLD);
  communication = 0;
  double start = MPI_Wtime();
  run(STEPS, sums);
  double mine[2] = {MPI_Wtime() - start, communication};
  double most[2];
  MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int verified = 1;
  for (int i = 0; i < 2 * STEPS; i++) {
    verified &= fabs((sums[i] - SUMS[kind][i]) / SUMS[kind][i]) <= 1e-12;
  }
  if (rank == 0) {
    double n = (double)nx * ny * nz;
    double each = 14.8157 + 7.19641 * log(n) + (5.23518 + 7.21113 * log(n)) * STEPS;
    double operations = n * each / 1e6;
    printf("FT: %.1f %% of the time in communication\n", 100 * most[1] / most[0]);
    printf("FT class %c, %d ranks: %.1f MOPS, %.3f s, %s\n", problem, size, operations / most[0],
           most[0], verified ? "verified" : "WRONG");
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
