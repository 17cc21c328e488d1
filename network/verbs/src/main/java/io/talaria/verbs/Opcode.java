// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.VerbsConstants;

/** What a completion is of: the constants of {@code enum ibv_wc_opcode}. */
public final class Opcode {
  /** A message was sent. */
  public static final int SEND = VerbsConstants.IBV_WC_SEND;

  /** Remote memory was written. */
  public static final int WRITE = VerbsConstants.IBV_WC_RDMA_WRITE;

  /** Remote memory was read. */
  public static final int READ = VerbsConstants.IBV_WC_RDMA_READ;

  /** Compared and swapped. */
  public static final int COMPARE_SWAP = VerbsConstants.IBV_WC_COMP_SWAP;

  /** Fetched and added. */
  public static final int FETCH_ADD = VerbsConstants.IBV_WC_FETCH_ADD;

  /** A memory window was bound. */
  public static final int BIND_WINDOW = VerbsConstants.IBV_WC_BIND_MW;

  /** A key was made invalid. */
  public static final int LOCAL_INVALIDATE = VerbsConstants.IBV_WC_LOCAL_INV;

  /** A message was received; the bit that all receive operations have. */
  public static final int RECEIVE = VerbsConstants.IBV_WC_RECV;

  /** The peer has written, and says so by an immediate word. */
  public static final int RECEIVE_WRITE_IMMEDIATE = VerbsConstants.IBV_WC_RECV_RDMA_WITH_IMM;

  private Opcode() {}
}
