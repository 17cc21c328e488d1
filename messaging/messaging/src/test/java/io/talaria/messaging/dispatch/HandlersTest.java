// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What handlers do with more tasks than there are places. */
class HandlersTest {
  @Test
  void aTaskForWhichThereIsNoPlaceIsNotForgotten() {
    AtomicInteger run = new AtomicInteger();
    Handlers handlers = new Handlers(number -> "none", 0, 1, thrown -> {}, 2);
    for (int i = 0; i < 5; i++) {
      handlers.run(run::incrementAndGet);
    }
    assertThat(handlers.isEmpty()).isFalse();
    for (Task each = handlers.next(); each != null; each = handlers.next()) {
      each.turn();
    }
    assertThat(run.get()).isEqualTo(5);
    assertThat(handlers.isEmpty()).isTrue();
  }
}
