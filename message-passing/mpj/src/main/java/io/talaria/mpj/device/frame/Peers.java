// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.RankGoneException;

/**
 * Receives what the parts of a device report about other ranks. All methods are called under the
 * engine's lock, and not while a frame is being handled.
 */
public interface Peers {
  /**
   * An input from a rank is there.
   *
   * @param rank whose
   * @param input its frames
   */
  void arrived(int rank, FrameInput input);

  /**
   * What was to be fetched is here.
   *
   * @param id see {@link FrameOutput#fetch}
   */
  void fetched(long id);

  /**
   * A rank is gone. Nothing that it has exposed or that it could fetch is touched any more.
   *
   * @param rank whose
   * @param why for the program
   */
  void gone(int rank, RankGoneException why);
}
