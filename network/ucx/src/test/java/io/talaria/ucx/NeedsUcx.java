// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips the tests of a class where UCX is not installed. */
final class NeedsUcx implements BeforeAllCallback {
  @Override
  public void beforeAll(ExtensionContext context) {
    Optional<String> unavailableReason = Ucx.unavailableReason();
    assumeTrue(unavailableReason.isEmpty(), () -> unavailableReason.orElseThrow());
  }
}
