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

// Of two of the random numbers of NAS, which are below 2^46; the next one is the product with 5^13.
static inline uint64_t times(uint64_t a, uint64_t b) { return a * b & ((1ULL << 46) - 1); }
