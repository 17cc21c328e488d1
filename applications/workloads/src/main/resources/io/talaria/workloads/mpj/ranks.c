// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// What the ranks of bench mpj do, as io.talaria.workloads.mpj.Ranks does it, by MPI in C. Usage:
//   ranks cases WARM_UP SECONDS [PATTERN BYTES COUNT]... [memory]
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW 64
#define WARM_BLOCKS 2
#define TAG 1
#define ANSWER 2
#define GO 3
#define FIRST_TURNS 1000
#define MAX_TURNS 1000000000

struct work {
  const char *pattern;
  int bytes;
  int length;
  MPI_Datatype type;
  char *out;
  char *in;
  MPI_Win window;
};

static int rank, size;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void ping_pong(struct work *w, int count) {
  if (rank == 0) {
    for (int i = 0; i < count; i++) {
      MPI_Send(w->out, w->length, w->type, 1, TAG, MPI_COMM_WORLD);
      MPI_Recv(w->out, w->length, w->type, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else if (rank == 1) {
    for (int i = 0; i < count; i++) {
      MPI_Recv(w->out, w->length, w->type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(w->out, w->length, w->type, 0, TAG, MPI_COMM_WORLD);
    }
  }
}

static void windows(struct work *w, int count) {
  MPI_Request requests[WINDOW];
  char answer = 0;
  for (int i = 0; i < count; i++) {
    if (rank == 0) {
      for (int k = 0; k < WINDOW; k++)
        MPI_Isend(w->out, w->length, w->type, 1, TAG, MPI_COMM_WORLD, &requests[k]);
      MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(&answer, 1, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      for (int k = 0; k < WINDOW; k++)
        MPI_Irecv(w->out, w->length, w->type, 0, TAG, MPI_COMM_WORLD, &requests[k]);
      MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
      MPI_Send(&answer, 1, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
    }
  }
}

static void collective(struct work *w, int count) {
  const char *p = w->pattern;
  if (strcmp(p, "barrier") == 0) {
    for (int i = 0; i < count; i++) MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(p, "bcast") == 0) {
    // The root rotates over the ranks, so that it cannot run ahead of the others.
    for (int i = 0; i < count; i++)
      MPI_Bcast(w->out, w->length, MPI_BYTE, i % size, MPI_COMM_WORLD);
  } else if (strcmp(p, "allreduce") == 0) {
    for (int i = 0; i < count; i++)
      MPI_Allreduce(w->out, w->in, w->length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(p, "allgather") == 0) {
    for (int i = 0; i < count; i++)
      MPI_Allgather(w->out, w->length, MPI_BYTE, w->in, w->length, MPI_BYTE, MPI_COMM_WORLD);
  } else if (strcmp(p, "alltoall") == 0) {
    for (int i = 0; i < count; i++)
      MPI_Alltoall(w->out, w->length, MPI_BYTE, w->in, w->length, MPI_BYTE, MPI_COMM_WORLD);
  } else if (strcmp(p, "reduce-scatter") == 0) {
    int parts[size];
    for (int i = 0; i < size; i++) parts[i] = w->length;
    for (int i = 0; i < count; i++)
      MPI_Reduce_scatter(w->out, w->in, parts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    fprintf(stderr, "there is no pattern %s\n", p);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

static int one_sided(const char *pattern) {
  return strcmp(pattern, "put") == 0 || strcmp(pattern, "get") == 0 || strcmp(pattern, "fetch") == 0;
}

// Accesses of rank 0 to the window of rank 1, each finished before the next.
static void accesses(struct work *w, int count) {
  if (rank != 0) return;
  long one = 1, old;
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->window);
  for (int i = 0; i < count; i++) {
    if (strcmp(w->pattern, "put") == 0)
      MPI_Put(w->out, w->length, MPI_BYTE, 1, 0, w->length, MPI_BYTE, w->window);
    else if (strcmp(w->pattern, "get") == 0)
      MPI_Get(w->in, w->length, MPI_BYTE, 1, 0, w->length, MPI_BYTE, w->window);
    else
      MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, w->window);
    MPI_Win_flush(1, w->window);
  }
  MPI_Win_unlock(1, w->window);
}

static long long block(struct work *w, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  long long begin = now();
  if (strcmp(w->pattern, "half") == 0)
    ping_pong(w, count);
  else if (strcmp(w->pattern, "rate") == 0 || strcmp(w->pattern, "bytes") == 0 ||
           strcmp(w->pattern, "doubles") == 0 || strcmp(w->pattern, "segments") == 0)
    windows(w, count);
  else if (one_sided(w->pattern))
    accesses(w, count);
  else
    collective(w, count);
  return now() - begin;
}

static volatile double sink = 1;

// Each turn needs the one before.
static void compute(long turns) {
  double x = sink;
  for (long i = 0; i < turns; i++) x = x * 0.999999 + 0.000001;
  sink = x;
}

static long long messages(struct work *w, int count, long turns) {
  char go = 0;
  long long begin = now();
  for (int i = 0; i < count; i++) {
    MPI_Request receive;
    MPI_Irecv(w->in, w->length, w->type, 1, TAG, MPI_COMM_WORLD, &receive);
    MPI_Send(&go, 1, MPI_BYTE, 1, GO, MPI_COMM_WORLD);
    compute(turns);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  return now() - begin;
}

static void answer(struct work *w, int count) {
  char go;
  for (int i = 0; i < count; i++) {
    MPI_Recv(&go, 1, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(w->out, w->length, w->type, 0, TAG, MPI_COMM_WORLD);
  }
}

// Messages alone, work alone, and both; adds what could be hidden, and what was.
static void hide(struct work *w, int count, long *turns, long long *possible, long long *hidden) {
  if (rank == 1) {
    answer(w, 2 * count);
  } else if (rank == 0) {
    long long message = messages(w, count, 0);
    long long begin = now();
    for (int i = 0; i < count; i++) compute(*turns);
    long long alone = now() - begin;
    if (alone < 1) alone = 1;
    long long both = messages(w, count, *turns);
    long long most = message < alone ? message : alone;
    long long saved = message + alone - both;
    *possible += most;
    *hidden += saved < 0 ? 0 : saved > most ? most : saved;
    double wanted = (double)*turns * message / alone;
    *turns = wanted < 1 ? 1 : wanted > MAX_TURNS ? MAX_TURNS : (long)wanted;
  }
}

// What rank 0 says.
static int all(int wanted) {
  MPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return wanted;
}

static char *memory(size_t bytes) {
  char *p = malloc(bytes + 8);
  if (p == NULL) {
    fprintf(stderr, "no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(p, 0, bytes + 8);
  return p;
}

static void overlap(int bytes, int count, double warm_up, double seconds) {
  struct work w = {"overlap", bytes, bytes, MPI_BYTE, memory(bytes), memory(bytes), MPI_WIN_NULL};
  long turns = FIRST_TURNS;
  long long possible = 0, hidden = 0;
  int blocks = 0;
  long long begin = now();
  do {
    hide(&w, count, &turns, &possible, &hidden);
    blocks++;
  } while (all(blocks < WARM_BLOCKS || now() - begin < warm_up * 1e9));
  possible = hidden = 0;
  begin = now();
  do {
    hide(&w, count, &turns, &possible, &hidden);
  } while (all(now() - begin < seconds * 1e9));
  if (rank == 0) {
    printf("result overlap %d %lld %lld\n", bytes, possible, hidden);
    fflush(stdout);
  }
  free(w.out);
  free(w.in);
}

static void measure(const char *pattern, int bytes, int count, double warm_up, double seconds) {
  int scattered = strcmp(pattern, "reduce-scatter") == 0;
  int doubles = strcmp(pattern, "doubles") == 0 || strcmp(pattern, "allreduce") == 0 || scattered;
  int many = strcmp(pattern, "alltoall") == 0 || scattered;
  struct work w = {pattern, bytes, doubles ? bytes / 8 : bytes, doubles ? MPI_DOUBLE : MPI_BYTE,
                   memory((size_t)bytes * (many ? size : 1)), memory((size_t)bytes * size),
                   MPI_WIN_NULL};
  if (one_sided(pattern)) {
    void *base;
    MPI_Win_allocate(bytes < 8 ? 8 : bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w.window);
  }
  long long spent = 0, elapsed = 0, iterations = 0, fastest = LLONG_MAX;
  int blocks = 0;
  do {
    spent += block(&w, count);
    blocks++;
  } while (all(blocks < WARM_BLOCKS || spent < warm_up * 1e9));
  do {
    long long own = block(&w, count);
    if (own < fastest) fastest = own;
    elapsed += own;
    iterations += count;
  } while (all(elapsed < seconds * 1e9));
  if (rank == 0) {
    printf("result %s %d %lld %lld %lld\n", pattern, bytes, iterations, elapsed, fastest);
    fflush(stdout);
  }
  if (w.window != MPI_WIN_NULL) MPI_Win_free(&w.window);
  free(w.out);
  free(w.in);
}

// This process's own memory, and its share of what it has in common with others, in KiB.
static void tell_memory(void) {
  char line[256];
  MPI_Barrier(MPI_COMM_WORLD);
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    long kib;
    if (sscanf(line, "Pss: %ld", &kib) == 1) printf("memory %ld\n", kib);
  }
  if (file != NULL) fclose(file);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 4 || strcmp(argv[1], "cases") != 0) {
    fprintf(stderr, "usage: ranks cases WARM_UP SECONDS [PATTERN BYTES COUNT]...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double warm_up = atof(argv[2]), seconds = atof(argv[3]);
  for (int i = 4; i + 2 < argc; i += 3) {
    int bytes = atoi(argv[i + 1]), count = atoi(argv[i + 2]);
    if (strcmp(argv[i], "overlap") == 0)
      overlap(bytes, count, warm_up, seconds);
    else
      measure(argv[i], bytes, count, warm_up, seconds);
  }
  if (strcmp(argv[argc - 1], "memory") == 0) tell_memory();
  MPI_Finalize();
  return 0;
}
