// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails each class of tests in which a sleeper had news and was not rung; found and used by JUnit.
 * Left out is what has peers that do not ring on purpose.
 */
public final class NoMissedDoorbells implements BeforeAllCallback, AfterAllCallback {
  private static final Set<String> SILENT =
      Set.of("io.talaria.nio.fuzz.FuzzTest", "io.talaria.nio.doorbell.ThreadDoorbellTest");

  private long before;

  /** For JUnit. */
  public NoMissedDoorbells() {}

  @Override
  public void beforeAll(ExtensionContext context) {
    before = DoorbellAudit.missed();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (!SILENT.contains(context.getRequiredTestClass().getName())) {
      assertThat(DoorbellAudit.missed() - before).as("doorbells missed").isZero();
    }
  }
}
