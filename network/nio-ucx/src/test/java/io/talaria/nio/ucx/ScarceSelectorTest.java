// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.transport.ReadySet;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A selector finds no descriptor: it does without, and the transport works as before. */
@Timeout(60)
class ScarceSelectorTest {
  @Test
  void aSelectorWithoutADescriptorDoesNotSwitchTheTransportOff() {
    assumeTrue(Variant.possible(), "no UCX here");
    FailingBinding failing = new FailingBinding(Bindings.open());
    UcxTransport transport = new UcxTransport(false, () -> failing.binding);
    assertThat(transport.unavailable()).as(transport.problem()).isNull();
    failing.on(
        "newDescriptorSet",
        call -> {
          throw new IOException("Too many open files, says the test");
        });
    assertThat(transport.openReadySet()).isNull();
    assertThat(transport.unavailable()).as(transport.problem()).isNull();
    failing.restore("newDescriptorSet");
    ReadySet next = transport.openReadySet();
    assertThat(next).isNotNull();
    next.close();
  }
}
