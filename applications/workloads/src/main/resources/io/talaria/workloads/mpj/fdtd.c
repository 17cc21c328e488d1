// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel io.talaria.mpj.kernels.Fdtd in C: the same steps on the same data, for comparison.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common.h"

#define COURANT 0.5
#define WARM_UP 50
#define FROM_ABOVE 1
#define FROM_BELOW 2

// Some rows of a field; row 0 and the row behind the last are the neighbours'.
typedef struct {
  int columns, allRows, firstRow, rows;
  double *electric, *magneticX, *magneticY;
} field;

static size_t bytes(const field *f) { return (f->rows + 2) * sizeof(double) * f->columns; }

static field zeros(int columns, int allRows, int firstRow, int rows) {
  field f = {columns, allRows, firstRow, rows, NULL, NULL, NULL};
  f.electric = memory(bytes(&f));
  f.magneticX = memory(bytes(&f));
  f.magneticY = memory(bytes(&f));
  return f;
}

static void clear(field *f) {
  memset(f->electric, 0, bytes(f));
  memset(f->magneticX, 0, bytes(f));
  memset(f->magneticY, 0, bytes(f));
}

// Advances the magnetic parts; wants the electric row behind the last.
static void magnetic(field *f) {
  int n = f->columns;
  for (int y = 1; y <= f->rows; y++) {
    const double *e = f->electric + y * n;
    double *restrict mx = f->magneticX + y * n;
    double *restrict my = f->magneticY + y * n;
    for (int x = 0; x < n; x++) mx[x] -= COURANT * (e[n + x] - e[x]);
    for (int x = 0; x < n - 1; x++) my[x] += COURANT * (e[x + 1] - e[x]);
  }
}

// Advances the electric part but for the walls, which conduct; wants the magnetic row 0.
static void electric(field *f) {
  int n = f->columns;
  for (int y = 1; y <= f->rows; y++) {
    int row = f->firstRow + y - 1;
    if (row == 0 || row == f->allRows - 1) continue;
    double *restrict e = f->electric + y * n;
    const double *mx = f->magneticX + y * n;
    const double *my = f->magneticY + y * n;
    for (int x = 1; x < n - 1; x++) e[x] += COURANT * (my[x] - my[x - 1] - (mx[x] - mx[x - n]));
  }
}

// Adds the source's value of a step, a Ricker wavelet, to the cell in the middle.
static void excite(field *f, int step) {
  int row = f->allRows / 2 - f->firstRow + 1;
  if (row >= 1 && row <= f->rows) {
    double t = M_PI * (0.02 * step - 1);
    f->electric[row * f->columns + f->columns / 2] += (1 - 2 * t * t) * exp(-t * t);
  }
}

// Sends a row to a neighbour and receives one from the other, where they exist.
static void swap(double *sent, double *received, int n, int to, int from, int tag, int ranks) {
  MPI_Request requests[2];
  int count = 0;
  if (from >= 0 && from < ranks)
    MPI_Irecv(received, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &requests[count++]);
  if (to >= 0 && to < ranks)
    MPI_Isend(sent, n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &requests[count++]);
  for (int i = 0; i < count; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void run(field *f, int steps, int own, int ranks) {
  int n = f->columns;
  double *e = f->electric;
  double *mx = f->magneticX;
  for (int t = 0; t < steps; t++) {
    // The rank below wants its row behind the last to be our first, and the one above the rest.
    swap(e + n, e + (f->rows + 1) * n, n, own - 1, own + 1, FROM_BELOW, ranks);
    magnetic(f);
    swap(mx + f->rows * n, mx, n, own + 1, own - 1, FROM_ABOVE, ranks);
    electric(f);
    excite(f, t);
  }
}

// Returns the electric part of all ranks on rank 0, and NULL on the others.
static double *gathered(const field *f, int rows) {
  int n = f->columns;
  int *counts = memory(size * sizeof(int));
  int *places = memory(size * sizeof(int));
  for (int i = 0; i < size; i++) {
    places[i] = beginOf(rows, i) * n;
    counts[i] = beginOf(rows, i + 1) * n - places[i];
  }
  double *whole = rank == 0 ? memory((size_t)rows * n * sizeof(double)) : NULL;
  MPI_Gatherv(f->electric + n, counts[rank], MPI_DOUBLE, whole, counts, places, MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  free(counts);
  free(places);
  return whole;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int columns = argc > 1 ? atoi(argv[1]) : 1024;
  int rows = argc > 2 ? atoi(argv[2]) : 512;
  int steps = argc > 3 ? atoi(argv[3]) : 500;
  if (rows < size) {
    fprintf(stderr, "FDTD wants a row a rank at least, not %d\n", rows);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int first = beginOf(rows, rank);
  field here = zeros(columns, rows, first, beginOf(rows, rank + 1) - first);
  run(&here, steps < WARM_UP ? steps : WARM_UP, rank, size);
  clear(&here);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  run(&here, steps, rank, size);
  double most = slowest(MPI_Wtime() - start);
  double *whole = gathered(&here, rows);
  int equal = 1;
  if (rank == 0) {
    field alone = zeros(columns, rows, 0, rows);
    run(&alone, 1, 0, 1); // So that its memory is there before the clock starts.
    clear(&alone);
    start = MPI_Wtime();
    run(&alone, steps, 0, 1);
    double serial = MPI_Wtime() - start;
    equal = memcmp(whole, alone.electric + columns, (size_t)rows * columns * sizeof(double)) == 0;
    printf("FDTD %d x %d cells, %d steps, %d ranks: %.3f s, %.2f times as fast as one, %s\n",
           columns, rows, steps, size, most, serial / most,
           equal ? "equal to the bit" : "NOT EQUAL");
  }
  MPI_Finalize();
  return equal ? 0 : 1;
}
