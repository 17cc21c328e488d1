// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Thousands of connections of the fabric, one after the other: all go by UCX, and cost the process
 * no more mappings than docs/nio-ucx.md states. That is too many for a process that lives long: see
 * there.
 */
@Timeout(300)
class ManyConnectionsTest {
  private static final int CONNECTIONS = 5_000;

  /** Both ends are in one process. */
  private static final int MOST_MAPPINGS_A_CONNECTION = 2 * 2;

  private static final int MOST_MAPPINGS_OF_A_PROCESS = 1_000;
  private static final Pattern MAPPINGS = Pattern.compile("(?m)^holds .*mappings (\\d+)");

  @Test
  void allGoByUcxAndCostWhatIsStated() throws Exception {
    Program.Ended ended = new Program(Churn.class, "churn").run(240, Integer.toString(CONNECTIONS));
    assertThat(ended.status).as("%s", ended).isZero();
    assertThat(ended.output).contains("UCX same-host " + CONNECTIONS + " ").doesNotContain("TCP");
    Matcher mappings = MAPPINGS.matcher(ended.output);
    assertThat(mappings.find()).as("%s", ended).isTrue();
    System.out.println(CONNECTIONS + " connections of the fabric: " + mappings.group());
    assertThat(Integer.parseInt(mappings.group(1)))
        .isLessThan(MOST_MAPPINGS_A_CONNECTION * CONNECTIONS + MOST_MAPPINGS_OF_A_PROCESS);
  }
}
