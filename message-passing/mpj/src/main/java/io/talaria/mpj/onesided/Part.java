// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.datatype.DensePayload;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.datatype.StridedPayload;
import io.talaria.mpj.device.Payload;

/**
 * Elements of a buffer of the calling rank.
 *
 * @param buffer an array of the base type, or a segment
 * @param offset origin of the first layout
 * @param count layouts
 * @param layout where the elements are
 */
public record Part(Object buffer, long offset, int count, Layout layout) {
  long elements() {
    return (long) count * layout.size();
  }

  long bytes() {
    return elements() << layout.base().shift();
  }

  Payload payload() {
    return layout.dense()
        ? new DensePayload().set(buffer, layout.base(), offset, elements())
        : new StridedPayload(buffer, layout, offset, count);
  }
}
