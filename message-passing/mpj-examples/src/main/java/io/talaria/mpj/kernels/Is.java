// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.Arrays;
import mpi.MPI;

/**
 * IS: the ranks of integer keys in their order, ten times over. Keys go to buckets, each rank gets
 * the buckets of a range of keys, about as many keys as every other, and counts what it got.
 */
public final class Is {
  private static final long SEED = 314_159_265;
  private static final int STEPS = 10;

  /** Of the whole problem. */
  private final char problem;

  private final int total;
  private final int keyBits;
  private final int bucketBits;
  private final int[] testIndex;
  private final int[] testRank;
  private final int[] testKey = new int[5];

  /** Of this rank. */
  private final int size = MPI.COMM_WORLD.Size();

  private final int rank = MPI.COMM_WORLD.Rank();
  private final int first;
  private final int[] keys;
  private final int[] byBucket;
  private final int[] mine;
  private final int[] all;
  private final int[] next;
  private final int[] sendCounts = new int[size];
  private final int[] sendPlaces = new int[size];
  private final int[] counts = new int[size];
  private final int[] places = new int[size];

  /** What this rank got: its keys, the first of its range, and how many have less than each. */
  private int[] got = {};

  private int gotCount;
  private int low;
  private int high;
  private long below;
  private int[] less = {};

  private Is(char problem) {
    this.problem = problem;
    total = 1 << (problem == 'S' ? 16 : problem == 'W' ? 20 : 23);
    keyBits = problem == 'S' ? 11 : problem == 'W' ? 16 : 19;
    bucketBits = problem == 'S' ? 9 : 10;
    testIndex =
        switch (problem) {
          case 'S' -> new int[] {48427, 17148, 23627, 62548, 4431};
          case 'W' -> new int[] {357773, 934767, 875723, 898999, 404505};
          default -> new int[] {2112377, 662041, 5336171, 3642833, 4250760};
        };
    testRank =
        switch (problem) {
          case 'S' -> new int[] {0, 18, 346, 64917, 65463};
          case 'W' -> new int[] {1249, 11698, 1039987, 1043896, 1048018};
          default -> new int[] {104, 17523, 123928, 8288932, 8388264};
        };
    first = Report.begin(total, rank, size);
    keys = new int[Report.begin(total, rank + 1, size) - first];
    byBucket = new int[keys.length];
    mine = new int[1 << bucketBits];
    all = new int[1 << bucketBits];
    next = new int[1 << bucketBits];
  }

  /**
   * Runs as a rank.
   *
   * @param args class of problem: S, W or A
   */
  public static void main(String[] args) {
    char problem = Report.problem(MPI.Init(args));
    Is is = new Is(problem);
    is.makeKeys();
    Report.warmUp(problem == 'S', () -> is.step(1));
    boolean right = true;
    double start = Report.now();
    for (int i = 1; i <= STEPS; i++) {
      right &= is.step(i);
    }
    double seconds = Report.slowest(start);
    right &= is.isSorted();
    int[] wrong = new int[1];
    MPI.COMM_WORLD.Allreduce(new int[] {right ? 0 : 1}, 0, wrong, 0, 1, MPI.INT, MPI.SUM);
    Report.end("IS", problem, (double) STEPS * is.total / 1e6, seconds, wrong[0] == 0);
  }

  /** A key is the mean of four numbers, so those in the middle are the most. */
  private void makeKeys() {
    Lcg random = new Lcg(SEED).skip(4L * first);
    int quarter = 1 << (keyBits - 2);
    for (int i = 0; i < keys.length; i++) {
      double sum = random.next();
      sum += random.next();
      sum += random.next();
      sum += random.next();
      keys[i] = (int) (quarter * sum);
    }
    int[] here = new int[testKey.length];
    for (int i = 0; i < here.length; i++) {
      int place = testIndex[i] - first;
      here[i] = place >= 0 && place < keys.length ? keys[place] : 0;
    }
    MPI.COMM_WORLD.Allreduce(here, 0, testKey, 0, here.length, MPI.INT, MPI.SUM);
  }

  private void change(int index, int key) {
    if (index >= first && index < first + keys.length) {
      keys[index - first] = key;
    }
  }

  /** Ranks all keys; false if the rank of a test key that is here is not the official one. */
  private boolean step(int iteration) {
    change(iteration, iteration);
    change(iteration + STEPS, (1 << keyBits) - iteration);
    fillBuckets();
    MPI.COMM_WORLD.Allreduce(mine, 0, all, 0, mine.length, MPI.INT, MPI.SUM);
    share();
    MPI.COMM_WORLD.Alltoall(sendCounts, 0, 1, MPI.INT, counts, 0, 1, MPI.INT);
    gotCount = 0;
    for (int i = 0; i < size; i++) {
      places[i] = gotCount;
      gotCount += counts[i];
    }
    if (got.length < gotCount) {
      got = new int[gotCount + gotCount / 8];
    }
    MPI.COMM_WORLD.Alltoallv(
        byBucket, 0, sendCounts, sendPlaces, MPI.INT, got, 0, counts, places, MPI.INT);
    count();
    return testKeysAreRight(iteration);
  }

  /** Counts this rank's keys by bucket, and puts them in the order of buckets. */
  private void fillBuckets() {
    int shift = keyBits - bucketBits;
    Arrays.fill(mine, 0);
    for (int key : keys) {
      mine[key >> shift]++;
    }
    int place = 0;
    for (int b = 0; b < mine.length; b++) {
      next[b] = place;
      place += mine[b];
    }
    for (int key : keys) {
      byBucket[next[key >> shift]++] = key;
    }
  }

  /** Says which rank gets which buckets, by the counts of all ranks, and what that is here. */
  private void share() {
    int shift = keyBits - bucketBits;
    int bucket = 0;
    long passed = 0;
    int place = 0;
    for (int to = 0; to < size; to++) {
      int begin = bucket;
      long before = passed;
      sendPlaces[to] = place;
      long until = (long) total * (to + 1) / size;
      while (bucket < all.length && (passed < until || to == size - 1)) {
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

  /** For each key of this rank's range: how many of all keys are less. */
  private void count() {
    int range = high - low;
    if (less.length <= range) {
      less = new int[range + 1];
    }
    Arrays.fill(less, 0, range + 1, 0);
    for (int i = 0; i < gotCount; i++) {
      less[got[i] - low + 1]++;
    }
    less[0] = (int) below;
    for (int i = 1; i <= range; i++) {
      less[i] += less[i - 1];
    }
  }

  /** The changed keys move each test key's rank by one an iteration, up or down. */
  private boolean testKeysAreRight(int iteration) {
    for (int i = 0; i < testKey.length; i++) {
      int key = testKey[i];
      if (key < low || key >= high) {
        continue;
      }
      boolean up = problem == 'W' ? i < 2 : i <= 2;
      int moved =
          switch (problem) {
            case 'S' -> iteration;
            case 'W' -> up ? iteration - 2 : iteration;
            default -> iteration - 1;
          };
      if (less[key - low] != testRank[i] + (up ? moved : -moved)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the keys, put at their ranks, are in order, here and up to the next rank's. */
  private boolean isSorted() {
    int[] sorted = new int[gotCount];
    for (int i = 0; i < gotCount; i++) {
      int place = less[got[i] - low]++ - (int) below;
      sorted[place] = got[i];
    }
    boolean right = true;
    for (int i = 1; i < gotCount; i++) {
      right &= sorted[i - 1] <= sorted[i];
    }
    // Where a rank has none, its range stands for it.
    int[] ends = {gotCount == 0 ? low : sorted[0], gotCount == 0 ? low : sorted[gotCount - 1]};
    int[] endsOfAll = new int[2 * size];
    MPI.COMM_WORLD.Allgather(ends, 0, 2, MPI.INT, endsOfAll, 0, 2, MPI.INT);
    for (int i = 2; i < endsOfAll.length; i++) {
      right &= endsOfAll[i - 1] <= endsOfAll[i];
    }
    int[] number = new int[1];
    MPI.COMM_WORLD.Allreduce(new int[] {gotCount}, 0, number, 0, 1, MPI.INT, MPI.SUM);
    return right && number[0] == total;
  }
}
