// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel io.talaria.mpj.kernels.Cg in C: the same steps on the same data, for comparison.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common.h"

#define STEPS 15
#define INNER 25
#define CONDITION 0.1
#define DIAGONAL 0.5

// The sparse vectors whose products make the matrix: of each, where its elements are, and what.
typedef struct {
  int most; // elements of one, at most
  int *count, *place;
  double *value;
} vectors;

static int n, first, rows;
static int *counts, *places;      // rows of each rank, and its first one
static int *rowStart, *column;    // of the matrix: where rows begin, and the column of each element
static double *value;
static double *whole, *product, *r, *p, *z, *x;
static uint64_t state = 314159265;

static double number(void) {
  state = times(state, FACTOR);
  return (int64_t)state * (1.0 / (1ULL << 46));
}

static int indexOf(const int *place, int count, int at) {
  for (int i = 0; i < count; i++)
    if (place[i] == at) return i;
  return -1;
}

// Makes a vector with some elements anywhere, and one half at its own place.
static int vector(int own, int nonzero, int powerOfTwo, int *place, double *element) {
  int count = 0;
  while (count < nonzero) {
    double next = number();
    int at = (int)(powerOfTwo * number());
    if (at < n && indexOf(place, count, at) < 0) {
      place[count] = at;
      element[count++] = next;
    }
  }
  int there = indexOf(place, count, own);
  if (there < 0) {
    there = count++;
    place[there] = own;
  }
  element[there] = DIAGONAL;
  return count;
}

static vectors makeVectors(int nonzero) {
  vectors v;
  v.most = nonzero + 1;
  v.count = memory(n * sizeof(int));
  v.place = memory((size_t)n * v.most * sizeof(int));
  v.value = memory((size_t)n * v.most * sizeof(double));
  int powerOfTwo = 1;
  while (powerOfTwo < n) powerOfTwo *= 2;
  number();
  for (int i = 0; i < n; i++) {
    size_t at = (size_t)i * v.most;
    v.count[i] = vector(i, nonzero, powerOfTwo, v.place + at, v.value + at);
  }
  return v;
}

// Adds to an element of a row, which stays ordered; returns the row's new end.
static int add(int at, double element, int start, int end) {
  int low = start, high = end;
  while (low < high) {
    int middle = (low + high) / 2;
    if (column[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < end && column[low] == at) {
    value[low] += element;
    return end;
  }
  memmove(column + low + 1, column + low, (end - low) * sizeof(int));
  memmove(value + low + 1, value + low, (end - low) * sizeof(double));
  column[low] = at;
  value[low] = element;
  return end + 1;
}

// Moves the rows together, which had space for what might have come.
static void pack(int *end) {
  int to = 0;
  for (int i = 0; i < rows; i++) {
    int start = rowStart[i];
    int length = end[i] - start;
    memmove(column + to, column + start, length * sizeof(int));
    memmove(value + to, value + start, length * sizeof(double));
    rowStart[i] = to;
    to += length;
  }
  rowStart[rows] = to;
}

// Makes this rank's rows of the sum of the vectors' products with themselves.
static void makeRows(const vectors *v, double shift) {
  rowStart = memory((rows + 1) * sizeof(int));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < v->count[i]; k++) {
      int row = v->place[(size_t)i * v->most + k] - first;
      if (row >= 0 && row < rows) rowStart[row + 1] += v->count[i];
    }
  for (int i = 0; i < rows; i++) rowStart[i + 1] += rowStart[i];
  int *end = memory(rows * sizeof(int));
  memcpy(end, rowStart, rows * sizeof(int));
  column = memory(rowStart[rows] * sizeof(int));
  value = memory(rowStart[rows] * sizeof(double));
  double ratio = pow(CONDITION, 1.0 / n);
  double weight = 1;
  for (int i = 0; i < n; i++) {
    const int *place = v->place + (size_t)i * v->most;
    const double *of = v->value + (size_t)i * v->most;
    for (int k = 0; k < v->count[i]; k++) {
      int row = place[k] - first;
      if (row < 0 || row >= rows) continue;
      for (int m = 0; m < v->count[i]; m++) {
        double element = weight * of[k] * of[m];
        if (place[k] == i && place[m] == i) element += CONDITION - shift;
        end[row] = add(place[m], element, rowStart[row], end[row]);
      }
    }
    weight *= ratio;
  }
  pack(end);
  free(end);
}

static void multiply(const double *part) {
  MPI_Allgatherv(part, rows, MPI_DOUBLE, whole, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int k = rowStart[i]; k < rowStart[i + 1]; k++) sum += value[k] * whole[column[k]];
    product[i] = sum;
  }
}

static double dot(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += a[i] * b[i];
  return sum;
}

static double sumOf(double mine) {
  double sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Finds z with A z = x, nearly.
static void solve(void) {
  memset(z, 0, rows * sizeof(double));
  memcpy(r, x, rows * sizeof(double));
  memcpy(p, x, rows * sizeof(double));
  double rho = sumOf(dot(r, r));
  for (int k = 0; k < INNER; k++) {
    multiply(p);
    double alpha = rho / sumOf(dot(p, product));
    for (int i = 0; i < rows; i++) {
      z[i] += alpha * p[i];
      r[i] -= alpha * product[i];
    }
    double before = rho;
    rho = sumOf(dot(r, r));
    double beta = rho / before;
    for (int i = 0; i < rows; i++) p[i] = r[i] + beta * p[i];
  }
  // The residual is computed as the reference does, because it belongs to the work measured.
  multiply(z);
  double residual = 0;
  for (int i = 0; i < rows; i++) residual += (x[i] - product[i]) * (x[i] - product[i]);
  if (isnan(sumOf(residual))) {
    fprintf(stderr, "the solution is not a number\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// One step of inverse iteration: the estimate of the eigenvalue.
static double step(double shift) {
  solve();
  double mine[2] = {dot(x, z), dot(z, z)};
  double sums[2];
  MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double factor = 1 / sqrt(sums[1]);
  for (int i = 0; i < rows; i++) x[i] = factor * z[i];
  return shift + 1 / sums[0];
}

static void begin(void) {
  for (int i = 0; i < rows; i++) x[i] = 1;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  char problem = argc > 1 ? argv[1][0] : 'S';
  int kind = problem == 'S' ? 0 : problem == 'W' ? 1 : 2;
  n = kind == 0 ? 1400 : kind == 1 ? 7000 : 14000;
  int nonzero = kind == 0 ? 7 : kind == 1 ? 8 : 11;
  double shift = kind == 0 ? 10 : kind == 1 ? 12 : 20;
  double official =
      kind == 0 ? 8.5971775078648 : kind == 1 ? 10.362595087124 : 17.130235054029;
  counts = memory(size * sizeof(int));
  places = memory(size * sizeof(int));
  for (int i = 0; i < size; i++) {
    places[i] = beginOf(n, i);
    counts[i] = beginOf(n, i + 1) - places[i];
  }
  first = places[rank];
  rows = counts[rank];
  vectors made = makeVectors(nonzero);
  makeRows(&made, shift);
  free(made.count);
  free(made.place);
  free(made.value);
  whole = memory(n * sizeof(double));
  product = memory(rows * sizeof(double));
  r = memory(rows * sizeof(double));
  p = memory(rows * sizeof(double));
  z = memory(rows * sizeof(double));
  x = memory(rows * sizeof(double));
  begin();
  step(shift);
  begin();
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  double zeta = 0;
  for (int i = 0; i < STEPS; i++) zeta = step(shift);
  double most = slowest(MPI_Wtime() - start);
  int verified = fabs((zeta - official) / official) <= 1e-10;
  if (rank == 0) {
    double perRow = 3 + nonzero * (nonzero + 1) + 25 * (5 + nonzero * (nonzero + 1)) + 3;
    double operations = 2.0 * STEPS * n * perRow / 1e6;
    printf("CG class %c, %d ranks: %.1f MOPS, %.3f s, %s\n", problem, size, operations / most, most,
           verified ? "verified" : "WRONG");
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
