// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;

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
    long elements = (long) fromCount * fromLayout.size();
    if (fromLayout.base() != toLayout.base()) {
      throw new CommunicationException(
          Kind.TYPE, "send type of " + fromLayout.base() + ", receive type of " + toLayout.base());
    }
    if (elements != (long) toCount * toLayout.size()) {
      throw new CommunicationException(
          Kind.COUNT,
          "this rank sends itself "
              + elements
              + " elements and expects "
              + (long) toCount * toLayout.size());
    }
    if (fromLayout.dense() && toLayout.dense() && fromLayout.base() != BaseType.OBJECT) {
      Elements.copy(fromLayout.base(), from, fromOffset, to, toOffset, (int) elements);
      return;
    }
    Object work = fromLayout.base().newArray((int) elements);
    Elements.packValues(from, fromOffset, fromCount, fromLayout, work, 0, false);
    Elements.unpack(work, 0, to, toOffset, toCount, toLayout);
  }
}
