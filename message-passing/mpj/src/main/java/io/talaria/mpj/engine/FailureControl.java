// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;

/**
 * What the launcher of a job does for its ranks that continue after others have ended: it tells
 * them who has, passes on which communicators are revoked, and brings the ranks that are left to
 * one result. Communicators are known by their ids, which no job with such a launcher uses twice.
 */
public interface FailureControl {
  /** What ranks have agreed on. */
  final class Agreement {
    private final long[] values;
    private final int[] gone;

    /**
     * The same at all ranks.
     *
     * @param values the bitwise «and» of what ranks have brought
     * @param gone the ranks that had ended
     */
    public Agreement(long[] values, int[] gone) {
      this.values = values;
      this.gone = gone;
    }

    /** The bitwise «and» of the arrays of all ranks that have brought one. */
    public long[] values() {
      return values.clone();
    }

    /** The ranks among those asked that had ended by then, by number in the job. */
    public int[] gone() {
      return gone.clone();
    }
  }

  /**
   * Sets what happens when a rank has revoked a communicator; also for those revoked before.
   *
   * @param action takes the id; run by a thread that does nothing else
   */
  void onRevoked(IntConsumer action);

  /**
   * Revokes a communicator at its ranks, this one included.
   *
   * @param id of the communicator
   * @param members numbers of its ranks in the job
   */
  void revoke(int id, int[] members);

  /**
   * Brings the ranks of a communicator that have not ended to one result. All of them call it, the
   * same number of times.
   *
   * @param id of the communicator
   * @param members numbers of its ranks in the job
   * @param values as many at all of them
   * @return over when each member has called this, or has ended
   */
  CompletableFuture<Agreement> agree(int id, int[] members, long[] values);
}
