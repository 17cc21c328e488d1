// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transports, roles and reasons: what other programs store must stay unmistakable. */
@Timeout(60)
class CatalogueTest {
  @Test
  void everyReasonHasItsOwnNumberWithinTheFilesRoom() {
    Set<Integer> numbers =
        Arrays.stream(Reason.values()).map(Reason::number).collect(Collectors.toSet());
    assertThat(numbers).hasSameSizeAs(Reason.values()).allMatch(n -> n >= 1 && n <= 63);
  }

  @Test
  void everyReasonHasItsOwnCodeInKebabCase() {
    Set<String> codes =
        Arrays.stream(Reason.values()).map(Reason::code).collect(Collectors.toSet());
    assertThat(codes).hasSameSizeAs(Reason.values()).allMatch(c -> c.matches("[a-z]+(-[a-z]+)*"));
  }

  @Test
  void everyReasonHasASentenceAndAHint() {
    for (Reason reason : Reason.values()) {
      assertThat(reason.sentence()).as(reason.code()).matches("[A-Z].*\\.");
      assertThat(reason.hint()).as(reason.code()).matches("[A-Z].*\\.");
    }
  }

  /** A user meets these first, and the cause is seldom a missing agent alone. */
  @ParameterizedTest
  @EnumSource(
      value = Reason.class,
      names = {"PEER_NOT_ACCELERATED", "NO_OFFER"})
  void aPeerThatDoesNotTakePartIsToldWithItsLikelyCauses(Reason reason) {
    assertThat(reason.sentence())
        .contains("runs without Talaria", "java.net.S", "asynchronous channel")
        .contains("native transport (epoll)", "another user", "another talaria.dir");
    assertThat(reason.hint()).contains("with the agent", "talaria.sockets=true", "by NIO");
  }

  @Test
  void reasonsAreFoundByNumberAndByCode() {
    for (Reason reason : Reason.values()) {
      assertThat(Reason.ofNumber(reason.number())).isSameAs(reason);
      assertThat(Reason.ofCode(reason.code())).isSameAs(reason);
    }
    assertThat(Reason.ofNumber(0)).isNull();
    assertThat(Reason.ofCode("no such code")).isNull();
  }

  @Test
  void modesAndRolesAreFoundByNumber() {
    for (NioTransport transport : NioTransport.values()) {
      assertThat(NioTransport.ofNumber(transport.number())).isSameAs(transport);
    }
    for (Role role : Role.values()) {
      assertThat(Role.ofNumber(role.number())).isSameAs(role);
    }
    assertThat(NioTransport.ofNumber(0)).isNull();
    assertThat(Role.ofNumber(0)).isNull();
  }

  @Test
  void theCodesThatScriptsRelyOnAreTheseOnes() {
    assertThat(Arrays.stream(NioTransport.values()).map(NioTransport::code))
        .containsExactly("tcp", "shm", "ucx");
    assertThat(Arrays.stream(Role.values()).map(Role::code))
        .containsExactly("client", "accepted", "listener");
    assertThat(Arrays.stream(Reason.values()).map(Reason::code))
        .contains(
            "negotiating",
            "same-host",
            "peer-not-accelerated",
            "remote-host",
            "no-offer",
            "not-matched",
            "other-namespace",
            "other-user",
            "version-mismatch",
            "refused",
            "no-runtime-dir",
            "insecure-dir",
            "no-shm-dir",
            "shm-full",
            "limit",
            "closed-early",
            "protocol-error",
            "peer-lost");
  }
}
