// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.verbs.binding.Internals;
import org.junit.jupiter.api.Test;

/** Nothing but its name leads to it. */
class HandlesTest {
  @Test
  void thePackageOfRdmaCmFindsIt() {
    assertThat(Internals.get()).isInstanceOf(Handles.class).isSameAs(Internals.get());
  }
}
