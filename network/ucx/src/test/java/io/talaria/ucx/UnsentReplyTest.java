// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Endpoints that end before UCX has sent its reply to the peer's, in a process of their own: the
 * assertion of UCX before 1.14 would end it.
 */
@ExtendWith(NeedsUcx.class)
@Timeout(120)
class UnsentReplyTest {
  @BeforeEach
  void onlyWhereUcxNeedsIt() {
    assumeTrue(Ucx.needsRepliesSent(), "UCX 1.14 and newer may close at any time");
  }

  private static List<String> says(String mode) throws Exception {
    try (ChildProcess child =
        ChildProcess.jvm(UnsentReplyMain.class, mode)
            .options("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx128m")
            .start()) {
      return child.awaitSuccess(Duration.ofSeconds(60)).out();
    }
  }

  @Test
  void aForcedCloseWaitsForTheReply() throws Exception {
    assertThat(says("close"))
        .containsExactly("owes true", "before it may reply: false", "afterwards: true");
  }

  @Test
  void anEndpointThatHasRepliedInTimeIsReleased() throws Exception {
    assertThat(says("in-time"))
        .containsExactly(
            "owes true", "before it may reply: true true", "afterwards: false false", "mappings 0");
  }

  @Test
  void anEndpointThatNeverRepliesIsLeftWithItsWorker() throws Exception {
    assertThat(says("never")).containsExactly("owes true", "left: false", "closed: false");
  }

  @Test
  void aWorkerWhoseEndpointOwesAReplyIsLeft() throws Exception {
    assertThat(says("worker")).containsExactly("owes true", "closed: false");
  }
}
