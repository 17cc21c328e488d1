// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

/** The kinds of collective calls; at most 32, their codes travel. */
public enum Call {
  BARRIER(0),
  BCAST(1),
  GATHER(2),
  GATHERV(3),
  SCATTER(4),
  SCATTERV(5),
  ALLGATHER(6),
  ALLGATHERV(7),
  ALLTOALL(8),
  ALLTOALLV(9),
  REDUCE(10),
  ALLREDUCE(11),
  REDUCE_SCATTER(12),
  SCAN(13),
  EXSCAN(14),
  OTHER(15),
  NEIGHBOR_ALLGATHER(16),
  NEIGHBOR_ALLGATHERV(17),
  NEIGHBOR_ALLTOALL(18),
  NEIGHBOR_ALLTOALLV(19);

  private static final int CODE_BITS = 5;
  private static final Call[] BY_CODE = values();

  private final int code;

  Call(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  static Call of(int code) {
    return BY_CODE[code];
  }

  /** The tag of the messages of a call. */
  int tag(int number) {
    return number << CODE_BITS | code;
  }

  /**
   * What the tag of a message of a collective says.
   *
   * @param tag as it travels, 0 or more
   * @return words to be displayed
   */
  public static String describe(int tag) {
    return of(tag & (1 << CODE_BITS) - 1) + " (collective call " + (tag >> CODE_BITS) + ")";
  }

  @Override
  public String toString() {
    String name = name();
    return name.charAt(0) + name.substring(1).toLowerCase(java.util.Locale.ROOT);
  }
}
