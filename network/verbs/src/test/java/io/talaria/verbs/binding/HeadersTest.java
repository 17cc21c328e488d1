// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ffi.HeaderCheck;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Holds constants, sizes, offsets and distances to what gcc makes of the installed headers. */
class HeadersTest {
  private static final String ALWAYS = "1";

  /** Members of unions that begin where another one of the same union does. */
  private static final Map<String, Long> UNIONS =
      Map.of(
          "offsetof(struct ibv_send_wr, wr.rdma.remote_addr)",
              VerbsStructs.SendWr.WR_ATOMIC_REMOTE_ADDR,
          "offsetof(struct ibv_send_wr, wr.rdma.rkey)", VerbsStructs.SendWr.WR_ATOMIC_COMPARE_ADD,
          "offsetof(struct ibv_send_wr, wr.ud.ah)", VerbsStructs.SendWr.WR_ATOMIC_REMOTE_ADDR,
          "offsetof(struct ibv_send_wr, wr.ud.remote_qpn)",
              VerbsStructs.SendWr.WR_ATOMIC_COMPARE_ADD,
          "offsetof(struct ibv_send_wr, wr.ud.remote_qkey)",
              VerbsStructs.SendWr.WR_ATOMIC_COMPARE_ADD + 4,
          "offsetof(struct ibv_send_wr, invalidate_rkey)", VerbsStructs.SendWr.IMM_DATA,
          "offsetof(struct ibv_wc, invalidated_rkey)", VerbsStructs.Wc.IMM_DATA,
          "sizeof(((struct ibv_async_event *)0)->element)", 8L,
          "offsetof(struct rdma_cm_event, param.conn)", CmStructs.CmEvent.PARAM_UD);

  @Test
  void structuresConstantsAndDistancesAreThoseOfTheHeaders() throws Exception {
    HeaderCheck check = new HeaderCheck("infiniband/verbs.h", "rdma/rdma_cma.h");
    Optional<String> unavailableReason = check.unavailableReason();
    assumeTrue(
        unavailableReason.isEmpty(),
        () ->
            "gcc or the headers (libibverbs-dev, librdmacm-dev) are missing: "
                + unavailableReason.orElseThrow());
    VerbsStructs.fixed().forEach(struct -> check.struct(struct, ALWAYS));
    VerbsStructs.growing().forEach(struct -> check.growingStruct(struct, ALWAYS));
    CmStructs.fixed().forEach(struct -> check.struct(struct, ALWAYS));
    UNIONS.forEach((expression, value) -> check.constant(expression, value, ALWAYS));
    addConstants(check, VerbsConstants.class);
    addConstants(check, CmConstants.class);
    for (Field field : VerbsContext.class.getDeclaredFields()) {
      if (Modifier.isPublic(field.getModifiers())) {
        check.constant(
            "offsetof(struct verbs_context, context) - offsetof(struct verbs_context, "
                + field.getName().toLowerCase(Locale.ROOT)
                + ")",
            field.getLong(null),
            ALWAYS);
      }
    }
    assertThat(check.differences()).isEmpty();
  }

  private static void addConstants(HeaderCheck check, Class<?> type) throws IllegalAccessException {
    for (Field field : type.getDeclaredFields()) {
      if (Modifier.isPublic(field.getModifiers())) {
        check.constant("(int)" + field.getName(), field.getInt(null), ALWAYS);
      }
    }
  }
}
