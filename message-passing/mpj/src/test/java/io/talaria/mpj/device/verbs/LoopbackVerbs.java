// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import io.talaria.testsupport.VerbsInMemory;
import io.talaria.verbs.Verbs;
import java.util.Optional;

/**
 * Where verbs come from in tests: from the provider in memory that the tests of the module verbs
 * have, which reaches no other process, or, with {@code -Dtalaria.verbs.variant=device}, from a
 * device of this host.
 */
public final class LoopbackVerbs {
  private static final boolean DEVICE =
      "device".equals(System.getProperty("talaria.verbs.variant"));
  private static String unavailableReason;

  private LoopbackVerbs() {}

  /** Whether a device is used, which may be one of an emulated machine. */
  public static boolean isDevice() {
    return DEVICE;
  }

  /** Makes verbs available to this JVM; gives why that is not possible, or an empty text. */
  public static synchronized String prepare() {
    if (unavailableReason == null) {
      Optional<String> reason = DEVICE ? Verbs.unavailableReason() : VerbsInMemory.prepare();
      unavailableReason = reason.orElse("");
    }
    return unavailableReason;
  }
}
