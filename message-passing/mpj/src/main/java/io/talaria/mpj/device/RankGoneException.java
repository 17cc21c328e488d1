// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

/** The rank at the other end, or one that might have been, has ended or cannot be reached. */
public final class RankGoneException extends CommunicationException {
  private static final long serialVersionUID = 1;

  private final int rank;

  /**
   * Of a rank.
   *
   * @param rank its number in the job
   * @param message what is known
   */
  public RankGoneException(int rank, String message) {
    super(Kind.RANK_GONE, message);
    this.rank = rank;
  }

  /** Its number in the job, from 0. */
  public int rank() {
    return rank;
  }
}
