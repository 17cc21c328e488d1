// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

class LayoutTest {
  private static final CStruct LINGER =
      CStruct.named("struct linger").int32("l_onoff").int32("l_linger").build();
  private static final CStruct MIXED =
      CStruct.named("mixed")
          .int8("a")
          .int16("b")
          .pointer("c")
          .bytes("d", 3)
          .struct("e", LINGER)
          .int8("f")
          .build();

  @Test
  void fieldsArePaddedAsACompilerDoes() {
    assertThat(MIXED.offset("b")).isEqualTo(2);
    assertThat(MIXED.offset("c")).isEqualTo(8);
    assertThat(MIXED.offset("e")).isEqualTo(20);
    assertThat(MIXED.offset("e.l_linger")).isEqualTo(24);
    assertThat(MIXED.sizeBytes()).isEqualTo(32);
  }

  @Test
  void theCompilerIsBelieved() throws Exception {
    HeaderCheck check =
        new HeaderCheck("sys/socket.h")
            .struct(LINGER, "1")
            .constant("AF_UNIX", 1, "1")
            .constant("AF_OF_THE_FUTURE", 1, "0");
    assumeTrue(check.unavailableReason().isEmpty(), () -> "no C compiler");
    assertThat(check.differences()).isEmpty();
    assertThat(new HeaderCheck("sys/socket.h").constant("AF_UNIX", 2, "1").differences())
        .containsExactly("AF_UNIX is 1 in C, 2 in Java");
  }

  @Test
  void aStructureMayBeLongerThanWhatIsKnownOfIt() throws Exception {
    CStruct start = CStruct.named("struct linger").int32("l_onoff").build();
    assumeTrue(
        new HeaderCheck("sys/socket.h").unavailableReason().isEmpty(), () -> "no C compiler");
    assertThat(new HeaderCheck("sys/socket.h").growingStruct(start, "1").differences()).isEmpty();
    CStruct longer = CStruct.named("struct linger").int32("l_onoff").int32("l_linger").build();
    assertThat(new HeaderCheck("sys/socket.h").growingStruct(longer, "1").differences()).isEmpty();
    CStruct wrong = CStruct.named("struct linger").int32("l_linger").build();
    assertThat(new HeaderCheck("sys/socket.h").growingStruct(wrong, "1").differences())
        .containsExactly("offsetof(struct linger, l_linger) is 4 in C, 0 in Java");
  }

  @Test
  void aMissingHeaderIsAnUnavailableReason() throws Exception {
    assertThat(new HeaderCheck("talaria/nothing.h").unavailableReason()).isPresent();
  }
}
