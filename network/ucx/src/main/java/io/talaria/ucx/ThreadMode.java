// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcsConstants.UCS_THREAD_MODE_MULTI;
import static io.talaria.ucx.binding.UcsConstants.UCS_THREAD_MODE_SERIALIZED;
import static io.talaria.ucx.binding.UcsConstants.UCS_THREAD_MODE_SINGLE;

/**
 * Which threads may use a worker ({@code ucs_thread_mode_t}).
 *
 * <p>UCX's mode of many threads at once has no counterpart for workers here: what the data path
 * keeps in Java is for one thread at a time, so a worker that many threads share is {@link
 * #SERIALIZED} and they take turns by {@link Worker#enter} and {@link Worker#exit}.
 */
public enum ThreadMode {
  /** Only the thread that opened it. */
  SINGLE(UCS_THREAD_MODE_SINGLE),
  /** Any thread, one at a time. */
  SERIALIZED(UCS_THREAD_MODE_SERIALIZED),
  /** Any thread at any time; a context may be so. */
  MULTI(UCS_THREAD_MODE_MULTI);

  private final int code;

  ThreadMode(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  static ThreadMode of(int code) {
    for (ThreadMode mode : values()) {
      if (mode.code == code) {
        return mode;
      }
    }
    throw new IllegalArgumentException("UCX names a thread mode that does not exist: " + code);
  }
}
