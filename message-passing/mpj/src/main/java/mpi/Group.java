// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.Arrays;
import java.util.function.IntPredicate;

/** Ranks of the job in an order. Immutable. */
public class Group implements Freeable {
  /** Comparison: of nothing. */
  public static final int EMPTY = 3;

  /** Number in the job of each member. */
  private final int[] world;

  private final int self;

  Group(int[] world, int self) {
    this.world = world;
    this.self = self;
  }

  int world(int rank) {
    return world[rank];
  }

  int[] worldRanks() {
    return world;
  }

  /** Place of a number of the job, or {@link MPI#UNDEFINED}. */
  int placeOf(int worldRank) {
    if (worldRank >= 0 && worldRank < world.length && world[worldRank] == worldRank) {
      return worldRank;
    }
    for (int i = 0; i < world.length; i++) {
      if (world[i] == worldRank) {
        return i;
      }
    }
    return MPI.UNDEFINED;
  }

  private Group of(int[] members) {
    return new Group(members, self);
  }

  /** Number of members. */
  public int Size() throws MPIException {
    return world.length;
  }

  /** This process's place, or {@link MPI#UNDEFINED}. */
  public int Rank() throws MPIException {
    return placeOf(self);
  }

  /**
   * Finds the members of one group in another.
   *
   * @param group1 whose
   * @param ranks places in it
   * @param group2 where
   * @return places there, or {@link MPI#UNDEFINED}
   */
  public static int[] Translate_ranks(Group group1, int[] ranks, Group group2) throws MPIException {
    two(group1, group2);
    int[] result = new int[Buffers.given(ranks, "ranks").length];
    for (int i = 0; i < ranks.length; i++) {
      result[i] =
          ranks[i] == MPI.PROC_NULL
              ? MPI.PROC_NULL
              : group2.placeOf(group1.world[group1.checked(ranks[i])]);
    }
    return result;
  }

  private static void two(Group group1, Group group2) {
    Buffers.given(group1, "group1");
    Buffers.given(group2, "group2");
  }

  private int checked(int rank) {
    if (rank < 0 || rank >= world.length) {
      throw new MPIException(
          MPIException.ERR_RANK, "rank " + rank + ": 0 to " + (world.length - 1) + " is allowed");
    }
    return rank;
  }

  /**
   * Compares.
   *
   * @param group1 one
   * @param group2 another
   * @return {@link MPI#IDENT}, {@link MPI#SIMILAR} or {@link MPI#UNEQUAL}
   */
  public static int Compare(Group group1, Group group2) throws MPIException {
    two(group1, group2);
    if (Arrays.equals(group1.world, group2.world)) {
      return MPI.IDENT;
    }
    int[] a = group1.world.clone();
    int[] b = group2.world.clone();
    Arrays.sort(a);
    Arrays.sort(b);
    return Arrays.equals(a, b) ? MPI.SIMILAR : MPI.UNEQUAL;
  }

  private int[] where(IntPredicate wanted) {
    return Arrays.stream(world).filter(wanted).toArray();
  }

  /** All of the first, then those of the second that are not in the first. */
  public static Group Union(Group group1, Group group2) throws MPIException {
    two(group1, group2);
    int[] more = group2.where(r -> group1.placeOf(r) < 0);
    int[] all = Arrays.copyOf(group1.world, group1.world.length + more.length);
    System.arraycopy(more, 0, all, group1.world.length, more.length);
    // GROUP_EMPTY was made before this rank had a number.
    return new Group(all, Math.max(group1.self, group2.self));
  }

  /** Those of the first that are in the second. */
  public static Group Intersection(Group group1, Group group2) throws MPIException {
    two(group1, group2);
    return group1.of(group1.where(r -> group2.placeOf(r) >= 0));
  }

  /** Those of the first that are not in the second. */
  public static Group Difference(Group group1, Group group2) throws MPIException {
    two(group1, group2);
    return group1.of(group1.where(r -> group2.placeOf(r) < 0));
  }

  /**
   * Some members, in the order given.
   *
   * @param ranks their places
   */
  public Group Incl(int[] ranks) throws MPIException {
    int[] members = new int[Buffers.given(ranks, "ranks").length];
    for (int i = 0; i < ranks.length; i++) {
      members[i] = world[checked(ranks[i])];
      for (int k = 0; k < i; k++) {
        if (members[k] == members[i]) {
          throw new MPIException(MPIException.ERR_RANK, "rank " + ranks[i] + " is named twice");
        }
      }
    }
    return of(members);
  }

  /**
   * All but some.
   *
   * @param ranks their places
   */
  public Group Excl(int[] ranks) throws MPIException {
    boolean[] out = new boolean[world.length];
    for (int rank : Buffers.given(ranks, "ranks")) {
      out[checked(rank)] = true;
    }
    int n = 0;
    int[] members = new int[world.length];
    for (int i = 0; i < world.length; i++) {
      if (!out[i]) {
        members[n++] = world[i];
      }
    }
    return of(Arrays.copyOf(members, n));
  }

  private int[] expand(int[][] ranges) {
    int[] ranks = new int[world.length];
    int n = 0;
    for (int[] range : Buffers.given(ranges, "ranges")) {
      if (range == null || range.length != 3 || range[2] == 0) {
        throw new MPIException(
            MPIException.ERR_ARG,
            "range "
                + Arrays.toString(range)
                + ": first, last and a stride other than 0 is allowed");
      }
      for (long r = range[0]; range[2] > 0 ? r <= range[1] : r >= range[1]; r += range[2]) {
        if (n == ranks.length) {
          throw new MPIException(MPIException.ERR_RANK, "ranges name a rank twice");
        }
        ranks[n++] = (int) r;
      }
    }
    return Arrays.copyOf(ranks, n);
  }

  /**
   * Members in ranges.
   *
   * @param ranges of first, last and stride each
   */
  public Group Range_incl(int[][] ranges) throws MPIException {
    return Incl(expand(ranges));
  }

  /**
   * All but members in ranges.
   *
   * @param ranges of first, last and stride each
   */
  public Group Range_excl(int[][] ranges) throws MPIException {
    return Excl(expand(ranges));
  }

  /** Does nothing. */
  @Override
  public void free() throws MPIException {}

  /** Does nothing. */
  public void Free() throws MPIException {}
}
