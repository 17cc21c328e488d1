// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel io.talaria.mpj.kernels.Mg in C: the same steps on the same data, for comparison.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common.h"

#define STEPS 4
#define CHARGES 10

// A periodic cube, [z][y][x], with a layer around it that repeats the other end; some
// planes are here.
typedef struct {
  int n, first, planes, line, plane;
  double *data;
} grid;

typedef struct {
  double self, face, edge, corner;
  double *beside[3];      // of three lines, the sum of those at the same place in the planes beside
  double *centre, *side;  // what a cell adds at its own place, and on its left and right
} stencil;

static int levels, lastShared;
static grid *u, *r, v, sharedResidual;
static stencil operator, smoother;
static double communication;

static grid cube(int n, int shared) {
  grid g;
  g.n = n;
  g.planes = shared ? n / size : n;
  g.first = shared ? g.planes * rank : 0;
  g.line = n + 2;
  g.plane = g.line * g.line;
  g.data = memory(sizeof(double) * g.plane * (g.planes + 2));
  return g;
}

static int whole(const grid *g) { return g->planes == g->n; }

static int at(const grid *g, int z, int y) { return z * g->plane + y * g->line; }

static void clear(grid *g) { memset(g->data, 0, sizeof(double) * g->plane * (g->planes + 2)); }

static void pass(grid *g, int sent, int to, int received, int from, int tag) {
  double start = MPI_Wtime();
  MPI_Sendrecv(g->data + sent, g->plane, MPI_DOUBLE, to, tag, g->data + received, g->plane,
               MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  communication += MPI_Wtime() - start;
}

static void wrap(grid *g) {
  double *d = g->data;
  size_t line = g->line * sizeof(double);
  for (int z = 1; z <= g->planes; z++) {
    for (int y = 1; y <= g->n; y++) {
      int a = at(g, z, y);
      d[a] = d[a + g->n];
      d[a + g->n + 1] = d[a + 1];
    }
    memcpy(d + at(g, z, 0), d + at(g, z, g->n), line);
    memcpy(d + at(g, z, g->n + 1), d + at(g, z, 1), line);
  }
  if (whole(g)) {
    memcpy(d, d + at(g, g->planes, 0), g->plane * sizeof(double));
    memcpy(d + at(g, g->planes + 1, 0), d + at(g, 1, 0), g->plane * sizeof(double));
  } else {
    int above = (rank + 1) % size;
    int below = (rank + size - 1) % size;
    pass(g, at(g, g->planes, 0), above, 0, below, 1);
    pass(g, at(g, 1, 0), below, at(g, g->planes + 1, 0), above, 2);
  }
}

static void gather(grid *to, const grid *part) {
  int count = part->plane * part->planes;
  double start = MPI_Wtime();
  MPI_Allgather(part->data + part->plane, count, MPI_DOUBLE, to->data + to->plane, count,
                MPI_DOUBLE, MPI_COMM_WORLD);
  communication += MPI_Wtime() - start;
  wrap(to);
}

static double norm(const grid *g) {
  double sum = 0, all;
  for (int z = 1; z <= g->planes; z++)
    for (int y = 1; y <= g->n; y++)
      for (int x = 1, a = at(g, z, y); x <= g->n; x++) sum += g->data[a + x] * g->data[a + x];
  double start = MPI_Wtime();
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  communication += MPI_Wtime() - start;
  return sqrt(all / ((double)g->n * g->n * g->n));
}

static stencil weights(double self, double face, double edge, double corner, int longest) {
  stencil s = {self, face, edge, corner, {NULL, NULL, NULL}, NULL, NULL};
  size_t line = (longest + 2) * sizeof(double);
  for (int i = 0; i < 3; i++) s.beside[i] = memory(line);
  s.centre = memory(line);
  s.side = memory(line);
  return s;
}

static void load(stencil *s, const grid *in, int z, int y) {
  double *restrict next = s->beside[0];
  s->beside[0] = s->beside[1];
  s->beside[1] = s->beside[2];
  s->beside[2] = next;
  const double *c = in->data + at(in, z, y);
  int plane = in->plane;
  for (int x = 0; x < in->line; x++) next[x] = c[x - plane] + c[x + plane];
}

static void begin(stencil *s, const grid *in, int z) {
  load(s, in, z, 0);
  load(s, in, z, 1);
}

static void sums(const stencil *s, const double *c, int line, double *restrict centre,
                 double *restrict side) {
  const double *before = s->beside[0];
  const double *here = s->beside[1];
  const double *after = s->beside[2];
  double self = s->self, face = s->face, edge = s->edge, corner = s->corner;
  for (int x = 0; x < line; x++) {
    double faces = c[x - line] + c[x + line] + here[x];
    double edges = before[x] + after[x];
    centre[x] = self * c[x] + face * faces + edge * edges;
    side[x] = face * c[x] + edge * faces + corner * edges;
  }
}

// Takes one line more, and computes what the line before it adds.
static void next(stencil *s, const grid *in, int z, int y) {
  load(s, in, z, y + 1);
  sums(s, in->data + at(in, z, y), in->line, s->centre, s->side);
}

static void subtract(stencil *s, const grid *in, const grid *from, grid *to) {
  for (int z = 1; z <= in->planes; z++) {
    begin(s, in, z);
    for (int y = 1; y <= in->n; y++) {
      next(s, in, z, y);
      const double *restrict c = s->centre;
      const double *restrict d = s->side;
      double *t = to->data + at(in, z, y);
      const double *f = from->data + at(in, z, y);
      for (int x = 1; x <= in->n; x++) t[x] = f[x] - (c[x] + d[x - 1] + d[x + 1]);
    }
  }
  wrap(to);
}

static void add(stencil *s, const grid *in, grid *to) {
  for (int z = 1; z <= in->planes; z++) {
    begin(s, in, z);
    for (int y = 1; y <= in->n; y++) {
      next(s, in, z, y);
      const double *restrict c = s->centre;
      const double *restrict d = s->side;
      double *t = to->data + at(in, z, y);
      for (int x = 1; x <= in->n; x++) t[x] += c[x] + d[x - 1] + d[x + 1];
    }
  }
  wrap(to);
}

static double pairs(const double *f, int a) { return f[a - 1] + f[a + 1]; }

static void mean(const grid *fine, grid *coarse) {
  const double *f = fine->data;
  int line = fine->line;
  int plane = fine->plane;
  for (int z = 1; z <= coarse->planes; z++) {
    for (int y = 1; y <= coarse->n; y++) {
      int from = at(fine, 2 * z, 2 * y);
      int to = at(coarse, z, y);
      for (int x = 1; x <= coarse->n; x++) {
        int c = from + 2 * x;
        double faces = pairs(f, c);
        faces += f[c - line] + f[c + line] + f[c - plane] + f[c + plane];
        double edges = pairs(f, c - line) + pairs(f, c + line);
        edges += pairs(f, c - plane) + pairs(f, c + plane);
        edges += f[c - plane - line] + f[c - plane + line];
        edges += f[c + plane - line] + f[c + plane + line];
        double corners = pairs(f, c - plane - line) + pairs(f, c - plane + line);
        corners += pairs(f, c + plane - line) + pairs(f, c + plane + line);
        coarse->data[to + x] = 0.5 * f[c] + 0.25 * faces + 0.125 * edges + 0.0625 * corners;
      }
    }
  }
}

static void interpolate(const grid *coarse, grid *fine) {
  int skipped = whole(coarse) && !whole(fine) ? fine->first / 2 : 0;
  const double *c = coarse->data;
  double *restrict sums = memory(coarse->line * sizeof(double)); // across and down, of one line
  for (int z = 1; z <= fine->planes; z++) {
    for (int y = 1; y <= fine->n; y++) {
      int upper = at(coarse, (z + 1) / 2 + skipped, (y + 1) / 2);
      int over = y % 2 == 0 ? 0 : coarse->line;
      int down = z % 2 == 0 ? 0 : coarse->plane;
      for (int x = 0; x <= coarse->n; x++) {
        int a = upper + x;
        sums[x] = c[a] + c[a - over] + c[a - down] + c[a - down - over];
      }
      double *restrict f = fine->data + at(fine, z, y);
      for (int x = 1; x <= coarse->n; x++) {
        f[2 * x - 1] += 0.125 * (sums[x - 1] + sums[x]);
        f[2 * x] += 0.25 * sums[x];
      }
    }
  }
  free(sums);
  wrap(fine);
}

static void restriction(int k) {
  int gathers = sharedResidual.data != NULL && k == lastShared;
  grid *to = gathers ? &sharedResidual : &r[k - 1];
  mean(&r[k], to);
  if (gathers) {
    gather(&r[k - 1], &sharedResidual);
  } else {
    wrap(to);
  }
}

static void cycle(void) {
  for (int k = levels; k > 1; k--) restriction(k);
  clear(&u[1]);
  add(&smoother, &r[1], &u[1]);
  for (int k = 2; k <= levels; k++) {
    if (k < levels) clear(&u[k]);
    interpolate(&u[k - 1], &u[k]);
    subtract(&operator, &u[k], k < levels ? &r[k] : &v, &r[k]);
    add(&smoother, &r[k], &u[k]);
  }
}

typedef struct {
  double number;
  int cell;
} charge;

static void keep(charge *list, int *count, double number, int cell) {
  if (*count == CHARGES && list[CHARGES - 1].number >= number) return;
  int place = *count;
  while (place > 0 && list[place - 1].number < number) place--;
  int last = *count < CHARGES ? *count : CHARGES - 1;
  for (int i = last; i > place; i--) list[i] = list[i - 1];
  list[place].number = number;
  list[place].cell = cell;
  if (*count < CHARGES) (*count)++;
}

static void place(const charge *list, double value) {
  for (int i = 0; i < CHARGES; i++) {
    int cell = list[i].cell;
    int z = cell / (v.n * v.n) - v.first;
    if (z >= 0 && z < v.planes) {
      v.data[at(&v, z + 1, cell / v.n % v.n + 1) + cell % v.n + 1] = value;
    }
  }
}

static void placeCharges(void) {
  charge least[CHARGES], most[CHARGES];
  int leastCount = 0, mostCount = 0;
  uint64_t x = 314159265;
  for (int i = 0; i < v.n * v.n * v.n; i++) {
    x = times(x, FACTOR);
    double number = x * (1.0 / (1ULL << 46));
    keep(most, &mostCount, number, i);
    keep(least, &leastCount, -number, i);
  }
  place(most, 1);
  place(least, -1);
  wrap(&v);
}

static double solve(void) {
  subtract(&operator, &u[levels], &v, &r[levels]);
  for (int i = 0; i < STEPS; i++) {
    cycle();
    subtract(&operator, &u[levels], &v, &r[levels]);
  }
  return norm(&r[levels]);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  char problem = argc > 1 ? argv[1][0] : 'S';
  int n = problem == 'S' ? 32 : problem == 'W' ? 128 : 256;
  double official =
      problem == 'S'
          ? 0.5307707005734e-4
          : problem == 'W' ? 0.6467329375339e-5 : 0.2433365309069e-5;
  if ((size & (size - 1)) != 0 || size > n / 2) {
    fprintf(stderr, "MG wants a power of two of ranks, %d at most, not %d\n", n / 2, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (levels = 0; 1 << levels < n; levels++) {
  }
  u = memory((levels + 1) * sizeof(grid));
  r = memory((levels + 1) * sizeof(grid));
  lastShared = levels;
  for (int k = levels; k >= 1; k--) {
    int shared = size > 1 && (1 << k) / size >= 2;
    u[k] = cube(1 << k, shared);
    r[k] = cube(1 << k, shared);
    lastShared = shared ? k : lastShared;
  }
  if (size > 1 && lastShared > 1) sharedResidual = cube(1 << (lastShared - 1), 1);
  v = cube(n, size > 1);
  operator = weights(-8.0 / 3, 0, 1.0 / 6, 1.0 / 12, n);
  smoother = weights(-3.0 / 8, 1.0 / 32, -1.0 / 64, 0, n);
  placeCharges();
  subtract(&operator, &u[levels], &v, &r[levels]);
  cycle();
  clear(&u[levels]);
  MPI_Barrier(MPI_COMM_WORLD);
  communication = 0;
  double start = MPI_Wtime();
  double found = solve();
  double mine[2] = {MPI_Wtime() - start, communication};
  double most[2];
  MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int verified = fabs((found - official) / official) <= 1e-8;
  if (rank == 0) {
    double operations = 58.0 * STEPS * n * n * n / 1e6;
    printf("MG: %.1f %% of the time in communication\n", 100 * most[1] / most[0]);
    printf("MG class %c, %d ranks: %.1f MOPS, %.3f s, %s\n", problem, size, operations / most[0],
           most[0], verified ? "verified" : "WRONG");
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
