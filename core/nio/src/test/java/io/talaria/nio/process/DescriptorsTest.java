// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Failures for want of descriptors; DescriptorsTest of the module it has a real process. */
@Timeout(30)
class DescriptorsTest {
  @Test
  void theSystemsWordsTell() {
    assertThat(Descriptors.ranOut(new SocketException("Too many open files"))).isTrue();
    assertThat(Descriptors.ranOut(new FileSystemException("a", null, "Too many open files")))
        .isTrue();
    assertThat(Descriptors.ranOut(new IOException("Too many open files in system"))).isTrue();
  }

  @Test
  void otherFailuresAreLookedInto() {
    assertThat(Descriptors.ranOut(new IOException("Zu viele offene Dateien"))).isFalse();
    assertThat(Descriptors.ranOut(new OutOfMemoryError())).isFalse();
  }
}
