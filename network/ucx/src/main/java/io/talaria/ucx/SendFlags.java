// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FLAG_NO_IMM_CMPL;

import io.talaria.ucx.binding.UcpStructs.RequestParam;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * How a send may complete: bits to be joined by {@code |}, 0 being the usual way ({@code
 * ucp_op_attr_t}).
 */
public final class SendFlags {
  /** Always give a request, also if the operation is done at once. */
  public static final int ALWAYS_REQUEST = 1;

  /** Prefer early local completion over throughput. */
  public static final int FAST = 2;

  /**
   * Complete at once or not at all: what does not fit UCX's short path is refused with {@link
   * Status#NO_RESOURCE}, and nothing of it is sent. Never gives a request.
   */
  public static final int IMMEDIATE = 4;

  /** More sends will follow: UCX may prefer throughput over latency. */
  public static final int MORE_FOLLOWS = 8;

  private static final int COUNT = 16;
  private static final int FIRST_BIT = Long.numberOfTrailingZeros(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);

  /** One {@code ucp_request_param_t} for each combination; never changed. */
  private static final long PARAMS = params();

  private SendFlags() {}

  /** The address of the parameters for a combination of flags. */
  static long param(int flags) {
    if ((flags & -COUNT) != 0) {
      throw new IllegalArgumentException("unknown flags: " + flags);
    }
    return PARAMS + flags * RequestParam.SIZE;
  }

  private static long params() {
    MemorySegment params = Arena.global().allocate(RequestParam.SIZE * COUNT, 8);
    for (int flags = 0; flags < COUNT; flags++) {
      // The bits are in the order of ucp_op_attr_t.
      params.set(
          ValueLayout.JAVA_INT,
          flags * RequestParam.SIZE + RequestParam.OP_ATTR_MASK,
          flags << FIRST_BIT);
    }
    return params.address();
  }
}
