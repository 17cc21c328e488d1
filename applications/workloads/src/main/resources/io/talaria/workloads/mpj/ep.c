// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel io.talaria.mpj.kernels.Ep in C: the same steps on the same data, for comparison.
#include <math.h>
#include <stdint.h>

#include "common.h"

#define SEED 271828183
#define BATCH (1 << 16)
#define RINGS 10

static const double SUMS[3][2] = {{-3247.834652034740, -6958.407078382297},
                                  {-2863.319731645753, -6320.053679109499},
                                  {-4295.875165629892, -15807.32573678431}};

// Signed, because processors convert signed numbers in one instruction, and Java's are signed.
static double number(uint64_t x) { return (int64_t)x * (1.0 / (1ULL << 46)); }

// Adds the sums of both numbers and the counts of a batch of pairs.
static void batch(int which, double *found) {
  uint64_t random = after(SEED, 2ULL * BATCH * which);
  double sumX = 0, sumY = 0;
  for (int i = 0; i < BATCH; i++) {
    random = times(random, FACTOR);
    double x = 2 * number(random) - 1;
    random = times(random, FACTOR);
    double y = 2 * number(random) - 1;
    double t = x * x + y * y;
    if (t <= 1) {
      double factor = sqrt(-2 * log(t) / t);
      double gaussX = x * factor;
      double gaussY = y * factor;
      // Whole numbers first: of two doubles, GCC would choose by a branch that nothing predicts.
      int ringX = (int)fabs(gaussX);
      int ringY = (int)fabs(gaussY);
      found[2 + (ringX > ringY ? ringX : ringY)]++;
      sumX += gaussX;
      sumY += gaussY;
    }
  }
  found[0] += sumX;
  found[1] += sumY;
}

static int equal(double value, double official) {
  return fabs((value - official) / official) <= 1e-8;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  char problem = argc > 1 ? argv[1][0] : 'S';
  int kind = problem == 'S' ? 0 : problem == 'W' ? 1 : 2;
  int exponent = kind == 0 ? 24 : kind == 1 ? 25 : 28;
  int batches = 1 << (exponent - 16);
  double warm[2 + RINGS] = {0}, found[2 + RINGS] = {0}, sums[2 + RINGS];
  batch(0, warm);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  int end = beginOf(batches, rank + 1);
  for (int i = beginOf(batches, rank); i < end; i++) batch(i, found);
  MPI_Allreduce(found, sums, 2 + RINGS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double most = slowest(MPI_Wtime() - start);
  int verified = equal(sums[0], SUMS[kind][0]) && equal(sums[1], SUMS[kind][1]);
  if (rank == 0) {
    double operations = (1LL << (exponent + 1)) / 1e6;
    printf("EP class %c, %d ranks: %.1f MOPS, %.3f s, %s\n", problem, size, operations / most, most,
           verified ? "verified" : "WRONG");
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
