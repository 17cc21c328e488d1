// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.Raw;

/**
 * {@code struct verbs_context}, which stands before {@code struct ibv_context} in memory and grows
 * at its front: its members are known by their distance before the context. One may be used only as
 * far as the structure's own size says, and only if the context is an extended one.
 *
 * <pre>
 *   ... query_port ... create_cq_ex ... query_device_ex ... create_qp_ex ... sz | ibv_context
 *       -320           -120             -104                -56              -8   0
 * </pre>
 */
public final class VerbsContext {
  public static final long QUERY_PORT = 320;
  public static final long ADVISE_MR = 312;
  public static final long ALLOC_NULL_MR = 304;
  public static final long MODIFY_CQ = 184;
  public static final long CREATE_CQ_EX = 120;
  public static final long QUERY_DEVICE_EX = 104;
  public static final long CREATE_QP_EX = 56;
  public static final long GET_SRQ_NUM = 48;
  public static final long SZ = 8;

  /** {@code __VERBS_ABI_IS_EXTENDED}. */
  private static final long EXTENDED = -1;

  private VerbsContext() {}

  /**
   * A function of the context.
   *
   * @param context an {@code ibv_context}
   * @param distance one of the constants here
   * @return its address; 0 if the context does not have it
   */
  public static long function(long context, long distance) {
    if (Raw.word(context + VerbsStructs.Context.ABI_COMPAT) != EXTENDED) {
      return 0;
    }
    // As in C: the structure must reach from the member to its end, which is the ibv_context.
    long size = Raw.word(context - SZ);
    return Long.compareUnsigned(size, distance + VerbsStructs.Context.SIZE) < 0
        ? 0
        : Raw.word(context - distance);
  }
}
