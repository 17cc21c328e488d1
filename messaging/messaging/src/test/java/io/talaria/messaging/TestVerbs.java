// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.testsupport.VerbsInMemory;
import io.talaria.verbs.Verbs;
import java.util.Optional;

/**
 * Where verbs come from in tests: from a provider in memory, which reaches no other process, or,
 * with {@code -Dtalaria.verbs.variant=device}, from a device of this host.
 */
public final class TestVerbs {
  private static final boolean DEVICE =
      "device".equals(System.getProperty("talaria.verbs.variant"));

  private TestVerbs() {}

  /** Whether a device is used, which may be one of an emulated machine. */
  public static boolean isDevice() {
    return DEVICE;
  }

  /** Makes verbs available to this JVM; gives why that is not possible. */
  public static Optional<String> prepare() {
    return DEVICE ? Verbs.unavailableReason() : VerbsInMemory.prepare();
  }
}
