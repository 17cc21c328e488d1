// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ffi.CStruct;
import io.talaria.ffi.HeaderCheck;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Holds constants, sizes and offsets to what gcc makes of the installed headers. */
class HeadersTest {
  private static final String ALWAYS = "1";
  private static final String FROM_14 = "UCP_API_VERSION >= UCP_VERSION(1, 14)";
  private static final String BEFORE_14 = "UCP_API_VERSION < UCP_VERSION(1, 14)";

  @Test
  void constantsSizesAndOffsetsAreThoseOfTheHeaders() throws Exception {
    HeaderCheck check = new HeaderCheck("ucp/api/ucp.h");
    Optional<String> unavailableReason = check.unavailableReason();
    assumeTrue(
        unavailableReason.isEmpty(),
        () -> "gcc or the headers (libucx-dev) are missing: " + unavailableReason.orElseThrow());
    for (CStruct struct : UcpStructs.all()) {
      boolean grown = struct.name().equals("ucp_ep_attr_t");
      check.struct(struct, grown ? BEFORE_14 : ALWAYS);
    }
    UcpStructs.from14().forEach(struct -> check.struct(struct, FROM_14));
    check.constant("sizeof(ucs_status_t)", 1, ALWAYS);
    check.constant("sizeof(ucp_datatype_t)", 8, ALWAYS);
    addConstants(check, UcpConstants.class, ALWAYS);
    addConstants(check, UcpConstants14.class, FROM_14);
    addConstants(check, UcsConstants.class, ALWAYS);
    assertThat(check.differences()).isEmpty();
  }

  private static void addConstants(HeaderCheck check, Class<?> type, String condition)
      throws IllegalAccessException {
    for (Field field : type.getDeclaredFields()) {
      if (Modifier.isPublic(field.getModifiers())) {
        check.constant(field.getName(), ((Number) field.get(null)).longValue(), condition);
      }
    }
  }
}
