// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LibcTest {
  @Test
  void theEnvironmentOfTheProcessIsSet() {
    Libc.setenv("TALARIA_FFI_TEST", "1", false);
    Libc.setenv("TALARIA_FFI_TEST", "2", false);
    assertThat(Libc.getenv("TALARIA_FFI_TEST")).contains("1");
    Libc.setenv("TALARIA_FFI_TEST", "3", true);
    assertThat(Libc.getenv("TALARIA_FFI_TEST")).contains("3");
    assertThat(Libc.getenv("TALARIA_FFI_NOT_SET")).isEmpty();
    assertThatThrownBy(() -> Libc.setenv("A=B", "x", true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("setenv refuses A=B=x");
  }

  @Test
  void theNumberLocaleGivesWhatTheActionGives() {
    assertThat(NumberLocale.call(() -> 42)).isEqualTo(42);
    assertThatThrownBy(
            () ->
                NumberLocale.call(
                    () -> {
                      throw new IllegalStateException("through");
                    }))
        .hasMessage("through");
  }

  @Test
  void nothingPrintedIsAnEmptyText() {
    assertThat(Libc.print(stream -> assertThat(stream).isNotZero())).isEmpty();
  }

  @Test
  void errorsHaveTheWordsOfTheLibrary() {
    assertThat(Libc.errorText(12)).isEqualTo("Cannot allocate memory");
  }

  @Test
  void aDescriptorIsMadeNonBlockingOrTheFailureIsSaid() {
    int descriptor = new Epoll().descriptor();
    Libc.nonBlocking(descriptor);
    assertThatThrownBy(() -> Libc.nonBlocking(-1)).hasMessage("fcntl of -1: Bad file descriptor");
  }

  @Test
  void theLimitOfLockedMemoryIsKnown() {
    assertThat(Libc.memlockLimit()).isPositive();
  }
}
