// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcsConstants;
import io.talaria.ucx.binding.UcxLibrary;

/**
 * What the calls of the data path answer: {@link #OK}, {@link #IN_PROGRESS}, or a negative number
 * that is one of UCX's errors ({@code ucs_status_t}). Where a call may also answer a request, that
 * is a number above 1.
 */
public final class Status {
  /** Done. */
  public static final int OK = UcsConstants.UCS_OK;

  /** Not done yet: progress the worker and ask again. */
  public static final int IN_PROGRESS = UcsConstants.UCS_INPROGRESS;

  /** No message is there. */
  public static final int NO_MESSAGE = UcsConstants.UCS_ERR_NO_MESSAGE;

  /** No room now: progress the worker and try again. */
  public static final int NO_RESOURCE = UcsConstants.UCS_ERR_NO_RESOURCE;

  /** {@code UCS_ERR_IO_ERROR}. */
  public static final int IO_ERROR = UcsConstants.UCS_ERR_IO_ERROR;

  /** Memory has run out. */
  public static final int NO_MEMORY = UcsConstants.UCS_ERR_NO_MEMORY;

  /** An argument is wrong. */
  public static final int INVALID_PARAM = UcsConstants.UCS_ERR_INVALID_PARAM;

  /** No transport reaches the peer. */
  public static final int UNREACHABLE = UcsConstants.UCS_ERR_UNREACHABLE;

  /** {@code UCS_ERR_INVALID_ADDR}. */
  public static final int INVALID_ADDR = UcsConstants.UCS_ERR_INVALID_ADDR;

  /** {@code UCS_ERR_NOT_IMPLEMENTED}. */
  public static final int NOT_IMPLEMENTED = UcsConstants.UCS_ERR_NOT_IMPLEMENTED;

  /** The message was longer than the buffer. */
  public static final int MESSAGE_TRUNCATED = UcsConstants.UCS_ERR_MESSAGE_TRUNCATED;

  /** {@code UCS_ERR_NO_PROGRESS}. */
  public static final int NO_PROGRESS = UcsConstants.UCS_ERR_NO_PROGRESS;

  /** {@code UCS_ERR_BUFFER_TOO_SMALL}. */
  public static final int BUFFER_TOO_SMALL = UcsConstants.UCS_ERR_BUFFER_TOO_SMALL;

  /** {@code UCS_ERR_NO_ELEM}. */
  public static final int NO_ELEM = UcsConstants.UCS_ERR_NO_ELEM;

  /** {@code UCS_ERR_SOME_CONNECTS_FAILED}. */
  public static final int SOME_CONNECTS_FAILED = UcsConstants.UCS_ERR_SOME_CONNECTS_FAILED;

  /** {@code UCS_ERR_NO_DEVICE}. */
  public static final int NO_DEVICE = UcsConstants.UCS_ERR_NO_DEVICE;

  /** There is still something to do first. */
  public static final int BUSY = UcsConstants.UCS_ERR_BUSY;

  /** Cancelled, by the program or because the endpoint was closed. */
  public static final int CANCELED = UcsConstants.UCS_ERR_CANCELED;

  /** {@code UCS_ERR_SHMEM_SEGMENT}. */
  public static final int SHMEM_SEGMENT = UcsConstants.UCS_ERR_SHMEM_SEGMENT;

  /** {@code UCS_ERR_ALREADY_EXISTS}. */
  public static final int ALREADY_EXISTS = UcsConstants.UCS_ERR_ALREADY_EXISTS;

  /** {@code UCS_ERR_OUT_OF_RANGE}. */
  public static final int OUT_OF_RANGE = UcsConstants.UCS_ERR_OUT_OF_RANGE;

  /** {@code UCS_ERR_TIMED_OUT}. */
  public static final int TIMED_OUT = UcsConstants.UCS_ERR_TIMED_OUT;

  /** {@code UCS_ERR_EXCEEDS_LIMIT}. */
  public static final int EXCEEDS_LIMIT = UcsConstants.UCS_ERR_EXCEEDS_LIMIT;

  /** {@code UCS_ERR_UNSUPPORTED}. */
  public static final int UNSUPPORTED = UcsConstants.UCS_ERR_UNSUPPORTED;

  /** The listener rejected the connection. */
  public static final int REJECTED = UcsConstants.UCS_ERR_REJECTED;

  /** The endpoint is not connected. */
  public static final int NOT_CONNECTED = UcsConstants.UCS_ERR_NOT_CONNECTED;

  /** The peer is gone. */
  public static final int CONNECTION_RESET = UcsConstants.UCS_ERR_CONNECTION_RESET;

  /** The peer does not answer. */
  public static final int ENDPOINT_TIMEOUT = UcsConstants.UCS_ERR_ENDPOINT_TIMEOUT;

  private Status() {}

  /**
   * UCX's words for a status ({@code ucs_status_string}).
   *
   * @param status a status
   * @return a text such as «Request canceled»
   * @throws MissingLibraryException if there is no UCX
   */
  public static String text(int status) {
    UcxLibrary.required();
    return Libc.string(Ucp.ucsStatusString((byte) status));
  }

  /**
   * Throws if a status is an error; for set-up, not for the data path.
   *
   * @param status a status
   * @param what the call that answered it
   * @throws UcxException with UCX's words, if it is negative
   */
  public static void check(long status, String what) {
    if (status < 0) {
      throw new UcxException((int) status, what);
    }
  }
}
