// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The layout of an address that travels, which needs no UCX. */
class WorkerAddressTest {
  /** {@code UcxWorkerAddressTest} of {@code nio-ucx} has the same. */
  @Test
  void theLayoutIsTheDocumentedOne() {
    byte[] raw = HexFormat.of().parseHex("313233343536373839");
    byte[] wrapped = HexFormat.of().parseHex("544c413100000009e3069283313233343536373839");
    assertThat(WorkerAddress.ofRaw(raw).toBytes()).isEqualTo(wrapped);
    assertThat(WorkerAddress.of(wrapped).toRaw()).isEqualTo(raw);
  }
}
