// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ucx.Ucx;

/** Skips tests where there is no UCX. */
final class NeedsUcx {
  private NeedsUcx() {}

  static void check() {
    assumeTrue(Ucx.unavailableReason().isEmpty(), () -> Ucx.unavailableReason().orElseThrow());
  }
}
