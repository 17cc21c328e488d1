// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_DATATYPE_IOV;
import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FIELD_DATATYPE;
import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FIELD_FLAGS;
import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
import static io.talaria.ucx.binding.UcpConstants.UCP_STREAM_RECV_FLAG_WAITALL;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ucx.binding.UcpStructs.RequestParam;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The {@code ucp_request_param_t} of vectors and active messages; never changed once made. */
final class RequestParams {
  /** Receives what is there of a stream into a vector. */
  static final long RECEIVE_VECTOR = single(0);

  /** Fills a vector from a stream. */
  static final long FILL_VECTOR = single((int) UCP_STREAM_RECV_FLAG_WAITALL);

  private static final int SENDS = 16;
  private static final int MESSAGES = 128;
  private static final int FIRST_BIT = Long.numberOfTrailingZeros(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
  private static final long SIZE = RequestParam.SIZE;
  private static final long MESSAGE_PARAMS = messages();
  private static final long VECTOR_PARAMS = MESSAGE_PARAMS + MESSAGES * SIZE;

  private RequestParams() {}

  /** For a send of a vector by tag or stream. */
  static long vector(int flags) {
    if ((flags & -SENDS) != 0) {
      throw new IllegalArgumentException("unknown flags: " + flags);
    }
    return VECTOR_PARAMS + flags * SIZE;
  }

  /** For an active message. */
  static long message(int flags, boolean vector) {
    int both = MessageFlags.EAGER | MessageFlags.RENDEZVOUS;
    if ((flags & -MESSAGES) != 0 || (flags & both) == both) {
      throw new IllegalArgumentException("unknown flags, or such as exclude each other: " + flags);
    }
    return (vector ? VECTOR_PARAMS : MESSAGE_PARAMS) + flags * SIZE;
  }

  /** First those of contiguous messages, then those of vectors. */
  private static long messages() {
    MemorySegment params = Arena.global().allocate(2 * MESSAGES * SIZE, 8);
    for (int i = 0; i < 2 * MESSAGES; i++) {
      int flags = i % MESSAGES;
      // Both groups of bits are in the order of UCX's.
      int mask = flags % SENDS << FIRST_BIT;
      int messageFlags = flags / SENDS;
      if (messageFlags != 0) {
        mask |= (int) UCP_OP_ATTR_FIELD_FLAGS;
        params.set(JAVA_INT, i * SIZE + RequestParam.FLAGS, messageFlags);
      }
      if (i >= MESSAGES) {
        mask |= (int) UCP_OP_ATTR_FIELD_DATATYPE;
        params.set(JAVA_LONG, i * SIZE + RequestParam.DATATYPE, UCP_DATATYPE_IOV);
      }
      params.set(JAVA_INT, i * SIZE + RequestParam.OP_ATTR_MASK, mask);
    }
    return params.address();
  }

  private static long single(int flags) {
    MemorySegment param = Arena.global().allocate(RequestParam.SIZE, 8);
    long mask = UCP_OP_ATTR_FIELD_DATATYPE | (flags == 0 ? 0 : UCP_OP_ATTR_FIELD_FLAGS);
    param.set(JAVA_INT, RequestParam.OP_ATTR_MASK, (int) mask);
    param.set(JAVA_INT, RequestParam.FLAGS, flags);
    param.set(JAVA_LONG, RequestParam.DATATYPE, UCP_DATATYPE_IOV);
    return param.address();
  }
}
