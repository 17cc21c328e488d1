// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.datatype.Layout;

/**
 * Elements in the window of a rank.
 *
 * @param rank whose, in the window's group
 * @param displacement bytes from the start of its window to the origin of the first layout
 * @param count layouts
 * @param layout where the elements are
 */
public record TargetPart(int rank, long displacement, int count, Layout layout) {
  long elements() {
    return (long) count * layout.size();
  }

  long bytes() {
    return elements() << layout.base().shift();
  }
}
