// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_AM;
import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_AMO32;
import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_AMO64;
import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_RMA;
import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_STREAM;
import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_TAG;
import static io.talaria.ucx.binding.UcpConstants.UCP_FEATURE_WAKEUP;

/** What a {@link Context} is opened for ({@code ucp_feature}). */
public enum Feature {
  /** Messages matched by tag. */
  TAG(UCP_FEATURE_TAG),
  /** Byte streams. */
  STREAM(UCP_FEATURE_STREAM),
  /** Active messages. */
  ACTIVE_MESSAGE(UCP_FEATURE_AM),
  /** Put and get. */
  RMA(UCP_FEATURE_RMA),
  /** Atomics on 4 bytes. */
  ATOMIC_32(UCP_FEATURE_AMO32),
  /** Atomics on 8 bytes. */
  ATOMIC_64(UCP_FEATURE_AMO64),
  /** Sleeping until something happens: event descriptors, arm, wait, signal. */
  WAKEUP(UCP_FEATURE_WAKEUP);

  private final long bit;

  Feature(long bit) {
    this.bit = bit;
  }

  long bit() {
    return bit;
  }
}
