// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// Half round trips and messages in flight between two ranks, as io.talaria.mpj.bench.PingPong does it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 64

static void pingpong(char *buffer, int size, int rounds, int rank) {
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) {
      MPI_Send(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
}

static void window(char *buffer, int size, int rounds, int rank) {
  MPI_Request requests[WINDOW];
  MPI_Status statuses[WINDOW];
  for (int i = 0; i < rounds; i++) {
    for (int k = 0; k < WINDOW; k++) {
      if (rank == 0) {
        MPI_Isend(buffer, size, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[k]);
      } else {
        MPI_Irecv(buffer, size, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[k]);
      }
    }
    MPI_Waitall(WINDOW, requests, statuses);
    if (rank == 0) {
      MPI_Recv(buffer, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(buffer, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int a = 1; a + 3 < argc; a += 4) {
    int size = atoi(argv[a]);
    int warmup = atoi(argv[a + 1]);
    int rounds = atoi(argv[a + 2]);
    int windows = atoi(argv[a + 3]);
    char *buffer = malloc(size + 1);
    memset(buffer, 1, size + 1);
    pingpong(buffer, size, warmup, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    pingpong(buffer, size, rounds, rank);
    double half = (MPI_Wtime() - start) / rounds / 2 * 1e6;
    window(buffer, size, windows / 2 + 1, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    window(buffer, size, windows, rank);
    double rate = (double)windows * WINDOW / (MPI_Wtime() - start);
    if (rank == 0) {
      printf("result %d %.4f %.0f\n", size, half, rate);
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
