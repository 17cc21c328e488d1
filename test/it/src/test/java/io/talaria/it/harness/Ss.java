// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.regex.Pattern;

/** What the command {@code talaria ss} shows people of the children's connections. */
public final class Ss {
  private Ss() {}

  /**
   * Checks that the table shows each side with the agent in the mode the pair must have.
   *
   * @param pair what the children are
   * @param server the side that accepted
   * @param client the side that connected
   * @throws IOException if the command fails
   * @throws InterruptedException if the test's time is up
   */
  public static void expect(Pair pair, Child server, Child client)
      throws IOException, InterruptedException {
    expect(pair, server, "accepted", Reason.NO_OFFER);
    expect(pair, client, "client", Reason.PEER_NOT_ACCELERATED);
  }

  private static void expect(Pair pair, Child child, String role, Reason plain)
      throws IOException, InterruptedException {
    String table = table(child);
    if (!child.flavour().accelerated()) {
      assertThat(table).as("a process without the agent").doesNotContain(role);
      return;
    }
    String mode = pair.accelerated() ? "shm" : "tcp";
    Reason reason = pair.accelerated() ? Reason.SAME_HOST : plain;
    assertThat(table)
        .containsPattern(
            Pattern.compile(
                "(?m)^\\s*"
                    + child.pid()
                    + "\\s.*\\b"
                    + role
                    + "\\b.*\\s"
                    + mode
                    + "\\s.*\\b"
                    + reason.code()
                    + "\\b"));
  }

  private static String table(Child child) throws IOException, InterruptedException {
    return Command.run(
        Duration.ofSeconds(20),
        "ss",
        "--dir",
        child.spec().talariaDir().toString(),
        "--pid",
        Long.toString(child.pid()));
  }
}
