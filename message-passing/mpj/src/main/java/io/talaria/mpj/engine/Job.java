// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

/** What a rank knows of its job from the launcher that started it. */
public interface Job {
  /** Number of this rank. */
  int rank();

  /** Ranks in the job. */
  int size();

  /** Opens this rank's engine; called once, by {@code MPI.Init}. */
  Engine open();

  /**
   * Waits until all ranks have called this method, at the end. Progress continues meanwhile.
   *
   * @param engine this rank's
   */
  void finish(Engine engine);

  /** What the launcher does for ranks that continue after others have ended; null if nothing. */
  default FailureControl failures() {
    return null;
  }

  /**
   * Ends the job, and does not return.
   *
   * @param status exit status
   * @param why one line
   */
  void abort(int status, String why);
}
