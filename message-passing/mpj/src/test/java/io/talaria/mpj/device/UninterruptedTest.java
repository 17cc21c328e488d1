// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work on another thread, whatever becomes of it. */
@Timeout(60)
class UninterruptedTest {
  @Test
  void theResultComesBackAndTheInterruptStays() throws Exception {
    Thread.currentThread().interrupt();
    assertThat(Uninterrupted.call(() -> Thread.currentThread().isInterrupted())).isFalse();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void whatItThrowsComesBack() {
    IOException checked = new IOException();
    RuntimeException unchecked = new IllegalStateException();
    Error error = new NoClassDefFoundError("some/Class");
    assertThatThrownBy(() -> Uninterrupted.call(() -> fail(checked))).isSameAs(checked);
    assertThatThrownBy(() -> Uninterrupted.call(() -> fail(unchecked))).isSameAs(unchecked);
    assertThatThrownBy(() -> Uninterrupted.call(() -> fail(error))).isSameAs(error);
  }

  private static String fail(Throwable failure) throws IOException {
    switch (failure) {
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(failure);
    }
  }
}
