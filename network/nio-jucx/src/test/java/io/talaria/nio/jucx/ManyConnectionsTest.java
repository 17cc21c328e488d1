// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Thousands of connections of the transport, one after the other, and one that stands all the time:
 * all go by UCX, and what the process holds levels off: mappings, descriptors, and JNI's references
 * but the weak ones, of which JUCX keeps one an endpoint. {@code ManyStreamsTest} of nio-ucx has
 * the same for both bindings, with endings of all kinds.
 */
@Timeout(1_800)
class ManyConnectionsTest {
  private static final int CONNECTIONS = 5_000;
  private static final int MANY_CONNECTIONS = 100_000;

  /** So few streams a worker that it is made anew some tens of times. */
  private static final int FEW_STREAMS = 200;

  private static final int MAX_MAPPINGS = 1_000;
  private static final int MAX_DESCRIPTORS = 200;
  private static final int MAX_GLOBAL_REFERENCES = 200;
  private static final Pattern HOLDS =
      Pattern.compile("(?m)^holds .* (\\d+) global .*descriptors (\\d+), mappings (\\d+)");

  private static void assertLevel(Program program, int connections, int limitSeconds)
      throws Exception {
    ChildProcess ended = program.run(limitSeconds, Integer.toString(connections));
    assertThat(ended.exitStatus()).as("%s", ended).isZero();
    assertThat(ended.outText())
        .contains("UCX same-host " + connections + " ")
        .doesNotContain("TCP");
    Matcher holds = HOLDS.matcher(ended.outText());
    assertThat(holds.find()).as("%s", ended).isTrue();
    System.out.println(connections + " connections of the transport: " + holds.group());
    assertThat(Integer.parseInt(holds.group(1)))
        .as("global references")
        .isLessThan(MAX_GLOBAL_REFERENCES);
    assertThat(Integer.parseInt(holds.group(2))).as("descriptors").isLessThan(MAX_DESCRIPTORS);
    assertThat(Integer.parseInt(holds.group(3))).as("mappings").isLessThan(MAX_MAPPINGS);
  }

  @Test
  void allGoByUcxWhileWorkersAreMadeAnew() throws Exception {
    Program program =
        new Program(Churn.class, "churn").option("-Dtalaria.ucx.streams=" + FEW_STREAMS);
    assertLevel(program, CONNECTIONS, 240);
  }

  @Test
  @Tag("long")
  void aHundredThousandGoByUcx() throws Exception {
    assertLevel(new Program(Churn.class, "churn-many"), MANY_CONNECTIONS, 1_700);
  }
}
