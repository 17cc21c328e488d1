// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class UcpTest {
  @BeforeAll
  static void needUcx() {
    try {
      UcxLibrary.required();
    } catch (MissingLibraryException e) {
      assumeTrue(false, e.getMessage());
    }
  }

  @Test
  void theVersionIsKnown() {
    UcxLibrary ucx = UcxLibrary.required();
    assertThat(ucx.major()).isEqualTo(1);
    assertThat(ucx.atLeast(12)).isTrue();
    assertThat(Libc.string(Ucp.getVersionString()))
        .startsWith(ucx.major() + "." + ucx.minor() + "." + ucx.release());
  }

  @Test
  void aStatusIsAByteWithASign() {
    assertThat(Libc.string(Ucp.ucsStatusString((byte) UcsConstants.UCS_ERR_CANCELED)))
        .isEqualTo("Request canceled");
  }

  @Test
  void statusPointersAreToldApart() {
    assertThat(List.of(StatusPointer.isError(0), StatusPointer.isPointer(0)))
        .containsExactly(false, false);
    assertThat(List.of(StatusPointer.isError(-16), StatusPointer.isPointer(-16)))
        .containsExactly(true, false);
    assertThat(List.of(StatusPointer.isError(0x7f00), StatusPointer.isPointer(0x7f00)))
        .containsExactly(false, true);
  }
}
