// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsLibrary;

/** How a request ended: the constants of {@code enum ibv_wc_status}. */
public final class Status {
  /** It is done. */
  public static final int SUCCESS = VerbsConstants.IBV_WC_SUCCESS;

  /** The message did not fit a local buffer, or the longest message. */
  public static final int LOCAL_LENGTH_ERROR = VerbsConstants.IBV_WC_LOC_LEN_ERR;

  /** The request was not consistent. */
  public static final int LOCAL_OPERATION_ERROR = VerbsConstants.IBV_WC_LOC_QP_OP_ERR;

  /** A local buffer is not registered for this. */
  public static final int LOCAL_PROTECTION_ERROR = VerbsConstants.IBV_WC_LOC_PROT_ERR;

  /** The queue pair went into error before it was done. */
  public static final int FLUSHED = VerbsConstants.IBV_WC_WR_FLUSH_ERR;

  /** A memory window could not be bound. */
  public static final int WINDOW_BIND_ERROR = VerbsConstants.IBV_WC_MW_BIND_ERR;

  /** The peer answered nonsense. */
  public static final int BAD_RESPONSE = VerbsConstants.IBV_WC_BAD_RESP_ERR;

  /** A peer's write to here was not allowed. */
  public static final int LOCAL_ACCESS_ERROR = VerbsConstants.IBV_WC_LOC_ACCESS_ERR;

  /** The peer could not understand it, for instance because the message was too long. */
  public static final int REMOTE_INVALID_REQUEST = VerbsConstants.IBV_WC_REM_INV_REQ_ERR;

  /** The peer's memory may not be accessed so: wrong key, address, length or rights. */
  public static final int REMOTE_ACCESS_ERROR = VerbsConstants.IBV_WC_REM_ACCESS_ERR;

  /** The peer failed. */
  public static final int REMOTE_OPERATION_ERROR = VerbsConstants.IBV_WC_REM_OP_ERR;

  /** The peer does not answer. */
  public static final int RETRIES_EXCEEDED = VerbsConstants.IBV_WC_RETRY_EXC_ERR;

  /** The peer had no receive request posted for too long. */
  public static final int RECEIVER_NOT_READY = VerbsConstants.IBV_WC_RNR_RETRY_EXC_ERR;

  /** Something else. */
  public static final int GENERAL_ERROR = VerbsConstants.IBV_WC_GENERAL_ERR;

  private Status() {}

  /**
   * What a status means, in the library's words ({@code ibv_wc_status_str}).
   *
   * @param status one of the constants
   * @return words
   */
  public static String text(int status) {
    VerbsLibrary.required();
    return Ibv.wcStatusStr(status);
  }
}
