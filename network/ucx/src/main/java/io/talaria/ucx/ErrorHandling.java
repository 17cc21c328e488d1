// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_ERR_HANDLING_MODE_NONE;
import static io.talaria.ucx.binding.UcpConstants.UCP_ERR_HANDLING_MODE_PEER;

/** What an endpoint does when its peer fails ({@code ucp_err_handling_mode_t}). */
public enum ErrorHandling {
  /**
   * Nothing: operations with a dead peer may stay in progress for ever, and the endpoint cannot be
   * closed by force.
   */
  NONE((int) UCP_ERR_HANDLING_MODE_NONE),
  /**
   * The failure is found, {@link Endpoint#failure} says so, and operations end with an error. Not
   * all transports can: UCX's shared memory does only if {@code UCX_POSIX_ERROR_HANDLING=y} is set,
   * and is silently not used otherwise.
   */
  PEER((int) UCP_ERR_HANDLING_MODE_PEER);

  private final int code;

  ErrorHandling(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }
}
