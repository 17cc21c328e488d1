// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel io.talaria.mpj.kernels.Is in C: the same steps on the same data, for comparison.
#include <stdint.h>
#include <string.h>

#include "common.h"

#define STEPS 10
#define TESTS 5

// Of the whole problem.
static char problem;
static int total, keyBits, buckets, shift;
static const int *testIndex, *testRank;
static int testKey[TESTS];

// Of this rank: its keys, as they come and by bucket; bucket by bucket, how many there are here and
// in all, and where the next one goes; and what it sends to and gets from each rank.
static int first, keyCount;
static int *keys, *byBucket, *mine, *all, *next;
static int *sendCounts, *sendPlaces, *counts, *places;

// What this rank got: keys from low on, less than high, and how many of all are less than each.
static int *got, *less;
static int gotCount, gotSpace, lessSpace, low, high, below;

static const int INDICES[3][TESTS] = {{48427, 17148, 23627, 62548, 4431},
                                      {357773, 934767, 875723, 898999, 404505},
                                      {2112377, 662041, 5336171, 3642833, 4250760}};

static const int RANKS[3][TESTS] = {{0, 18, 346, 64917, 65463},
                                    {1249, 11698, 1039987, 1043896, 1048018},
                                    {104, 17523, 123928, 8288932, 8388264}};

static int *ints(int count) { return memory(count * sizeof(int)); }

// A key is the mean of four numbers, so those in the middle are the most.
static void makeKeys(void) {
  uint64_t x = after(314159265, 4ULL * first);
  int quarter = 1 << (keyBits - 2);
  for (int i = 0; i < keyCount; i++) {
    double sum = 0;
    for (int j = 0; j < 4; j++) {
      x = times(x, FACTOR);
      sum += x * (1.0 / (1ULL << 46));
    }
    keys[i] = (int)(quarter * sum);
  }
  int here[TESTS];
  for (int i = 0; i < TESTS; i++) {
    int place = testIndex[i] - first;
    here[i] = place >= 0 && place < keyCount ? keys[place] : 0;
  }
  MPI_Allreduce(here, testKey, TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void change(int index, int key) {
  if (index >= first && index < first + keyCount) keys[index - first] = key;
}

// Counts this rank's keys by bucket, and puts them in the order of buckets.
static void fillBuckets(void) {
  memset(mine, 0, buckets * sizeof(int));
  for (int i = 0; i < keyCount; i++) mine[keys[i] >> shift]++;
  int place = 0;
  for (int b = 0; b < buckets; b++) {
    next[b] = place;
    place += mine[b];
  }
  for (int i = 0; i < keyCount; i++) byBucket[next[keys[i] >> shift]++] = keys[i];
}

// Says which rank gets which buckets, by the counts of all ranks, and what that is here.
static void share(void) {
  int bucket = 0, passed = 0, place = 0;
  for (int to = 0; to < size; to++) {
    int begin = bucket;
    int before = passed;
    sendPlaces[to] = place;
    int64_t until = (int64_t)total * (to + 1) / size;
    while (bucket < buckets && (passed < until || to == size - 1)) {
      passed += all[bucket];
      place += mine[bucket];
      bucket++;
    }
    sendCounts[to] = place - sendPlaces[to];
    if (to == rank) {
      low = begin << shift;
      high = bucket << shift;
      below = before;
    }
  }
}

// For each key of this rank's range: how many of all keys are less.
static void count(void) {
  int range = high - low;
  if (lessSpace <= range) {
    free(less);
    lessSpace = range + 1;
    less = ints(lessSpace);
  }
  memset(less, 0, (range + 1) * sizeof(int));
  for (int i = 0; i < gotCount; i++) less[got[i] - low + 1]++;
  less[0] = below;
  for (int i = 1; i <= range; i++) less[i] += less[i - 1];
}

// The changed keys move each test key's rank by one an iteration, up or down.
static int testKeysAreRight(int iteration) {
  for (int i = 0; i < TESTS; i++) {
    int key = testKey[i];
    if (key < low || key >= high) continue;
    int up = problem == 'W' ? i < 2 : i <= 2;
    int moved = iteration - 1;
    if (problem == 'S') moved = iteration;
    if (problem == 'W') moved = up ? iteration - 2 : iteration;
    if (less[key - low] != testRank[i] + (up ? moved : -moved)) return 0;
  }
  return 1;
}

// Ranks all keys; 0 if the rank of a test key that is here is not the official one.
static int step(int iteration) {
  change(iteration, iteration);
  change(iteration + STEPS, (1 << keyBits) - iteration);
  fillBuckets();
  MPI_Allreduce(mine, all, buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  share();
  MPI_Alltoall(sendCounts, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
  gotCount = 0;
  for (int i = 0; i < size; i++) {
    places[i] = gotCount;
    gotCount += counts[i];
  }
  if (gotSpace < gotCount) {
    free(got);
    gotSpace = gotCount + gotCount / 8;
    got = ints(gotSpace);
  }
  MPI_Alltoallv(byBucket, sendCounts, sendPlaces, MPI_INT, got, counts, places, MPI_INT,
                MPI_COMM_WORLD);
  count();
  return testKeysAreRight(iteration);
}

// Whether the keys, put at their ranks, are in order, here and up to the next rank's.
static int isSorted(void) {
  int *sorted = ints(gotCount + 1);
  for (int i = 0; i < gotCount; i++) sorted[less[got[i] - low]++ - below] = got[i];
  int right = 1;
  for (int i = 1; i < gotCount; i++) right &= sorted[i - 1] <= sorted[i];
  // Where a rank has none, its range stands for it.
  int ends[2] = {gotCount == 0 ? low : sorted[0], gotCount == 0 ? low : sorted[gotCount - 1]};
  int *endsOfAll = ints(2 * size);
  MPI_Allgather(ends, 2, MPI_INT, endsOfAll, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 2; i < 2 * size; i++) right &= endsOfAll[i - 1] <= endsOfAll[i];
  int number;
  MPI_Allreduce(&gotCount, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(sorted);
  free(endsOfAll);
  return right && number == total;
}

static void prepare(void) {
  int kind = problem == 'S' ? 0 : problem == 'W' ? 1 : 2;
  total = 1 << (kind == 0 ? 16 : kind == 1 ? 20 : 23);
  keyBits = kind == 0 ? 11 : kind == 1 ? 16 : 19;
  int bucketBits = kind == 0 ? 9 : 10;
  buckets = 1 << bucketBits;
  shift = keyBits - bucketBits;
  testIndex = INDICES[kind];
  testRank = RANKS[kind];
  first = beginOf(total, rank);
  keyCount = beginOf(total, rank + 1) - first;
  keys = ints(keyCount);
  byBucket = ints(keyCount);
  mine = ints(buckets);
  all = ints(buckets);
  next = ints(buckets);
  sendCounts = ints(size);
  sendPlaces = ints(size);
  counts = ints(size);
  places = ints(size);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  problem = argc > 1 ? argv[1][0] : 'S';
  prepare();
  makeKeys();
  step(1);
  MPI_Barrier(MPI_COMM_WORLD);
  int right = 1;
  double start = MPI_Wtime();
  for (int i = 1; i <= STEPS; i++) right &= step(i);
  double most = slowest(MPI_Wtime() - start);
  right &= isSorted();
  int wrong = !right, anyWrong;
  MPI_Allreduce(&wrong, &anyWrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    double operations = (double)STEPS * total / 1e6;
    printf("IS class %c, %d ranks: %.1f MOPS, %.3f s, %s\n", problem, size, operations / most, most,
           anyWrong ? "WRONG" : "verified");
  }
  MPI_Finalize();
  return anyWrong ? 1 : 0;
}
