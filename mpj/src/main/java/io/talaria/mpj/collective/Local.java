// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import mpi.MPIException;

/** A rank's message to itself in a collective. */
final class Local {
  private Local() {}

  static void copy(
      Object from,
      int fromOffset,
      int fromCount,
      Layout fromLayout,
      Object to,
      int toOffset,
      int toCount,
      Layout toLayout) {
    int elements = fromCount * fromLayout.size();
    if (fromLayout.base() != toLayout.base()) {
      throw new MPIException(
          MPIException.ERR_TYPE,
          "send type of " + fromLayout.base() + ", receive type of " + toLayout.base());
    }
    if (elements != toCount * toLayout.size()) {
      throw new MPIException(
          MPIException.ERR_COUNT,
          "this rank sends itself "
              + elements
              + " elements and expects "
              + toCount * toLayout.size());
    }
    if (fromLayout.dense() && toLayout.dense()) {
      Elements.copy(fromLayout.base(), from, fromOffset, to, toOffset, elements);
      return;
    }
    Object work = fromLayout.base().newArray(elements);
    Elements.pack(from, fromOffset, fromCount, fromLayout, work, 0);
    Elements.unpack(work, 0, to, toOffset, toCount, toLayout);
  }
}
