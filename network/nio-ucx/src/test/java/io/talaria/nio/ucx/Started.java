// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.util.Map;

/** A binding of the tests' own, over UCX's shared memory. */
final class Started {
  private static final UcxBinding BINDING = start();

  private Started() {}

  /** The binding; null if it cannot be used here. */
  static UcxBinding binding() {
    return BINDING;
  }

  private static UcxBinding start() {
    try {
      UcxBinding binding = Bindings.open();
      String unavailableReason =
          binding.start(Map.of("UCX_POSIX_ERROR_HANDLING", "y", "UCX_TLS", "posix,self"));
      if (unavailableReason.isEmpty()) {
        return binding;
      }
      missed(unavailableReason);
    } catch (BindingException e) {
      missed(e.getMessage());
    }
    return null;
  }

  /** A run for one binding must not pass because that is not there. */
  private static void missed(String why) {
    if (System.getProperty(Bindings.PROPERTY) != null) {
      throw new AssertionError(why);
    }
    System.err.println(why);
  }
}
