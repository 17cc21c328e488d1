// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// What the kernels in C share.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int size, rank;

static void start(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

// Memory that is all zeros; without it the job ends.
static inline void *memory(size_t bytes) {
  void *p = calloc(1, bytes);
  if (p == NULL) {
    fprintf(stderr, "no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return p;
}

// Where the part of a rank begins, of so many things that all ranks share.
static inline int beginOf(int count, int which) { return (int)((int64_t)count * which / size); }

// The longest time that a rank took.
static inline double slowest(double seconds) {
  double longest;
  MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

// The random numbers of NAS are below 2^46, and each is the product of the one before with this.
#define FACTOR 1220703125

static inline uint64_t times(uint64_t a, uint64_t b) { return a * b & ((1ULL << 46) - 1); }

// The random number that comes so many after x.
static inline uint64_t after(uint64_t x, uint64_t n) {
  for (uint64_t power = FACTOR; n > 0; n >>= 1) {
    if (n & 1) x = times(x, power);
    power = times(power, power);
  }
  return x;
}
