// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ffi.HeaderCheck;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holds sizes, offsets and constants to what gcc makes of the installed headers. */
@Timeout(120)
class FabricHeadersTest {
  private static final String ALWAYS = "1";

  @Test
  void structuresAndConstantsAreThoseOfTheHeaders() throws Exception {
    HeaderCheck check = new HeaderCheck("infiniband/umad.h", "infiniband/ibnetdisc.h");
    Optional<String> unavailableReason = check.unavailableReason();
    assumeTrue(
        unavailableReason.isEmpty(),
        () ->
            "gcc or the headers (libibmad-dev, libibnetdisc-dev, libibumad-dev) are missing: "
                + unavailableReason.orElseThrow());
    FabricStructs.fixed().forEach(struct -> check.struct(struct, ALWAYS));
    FabricStructs.growing().forEach(struct -> check.growingStruct(struct, ALWAYS));
    int constants = 0;
    for (Field field : FabricConstants.class.getDeclaredFields()) {
      if (Modifier.isPublic(field.getModifiers())) {
        check.constant("(int)" + field.getName(), field.getInt(null), ALWAYS);
        constants++;
      }
    }
    check.constant("(int)IB_SMP_DATA_SIZE", FabricStructs.SMP_BYTES, ALWAYS);
    check.constant("(int)IB_MAD_SIZE", FabricStructs.MAD_BYTES, ALWAYS);
    assertThat(constants).isPositive();
    assertThat(check.differences()).isEmpty();
  }
}
