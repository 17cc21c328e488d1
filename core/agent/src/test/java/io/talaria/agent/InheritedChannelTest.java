// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What systemd or inetd hands over as the standard input. */
class InheritedChannelTest {
  static List<String> javas() {
    return Child.javas();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void acceleratesWhatAnInheritedListenerAccepts(String java) throws Exception {
    Child plain = run(java, List.of(), "listener", "false");
    Child accelerated = run(java, List.of("-javaagent:" + Child.AGENT), "listener", "true");
    assertThat(accelerated.out())
        .isEqualTo(plain.out())
        .containsExactly("same = true", "accepts = 1", "end = -1");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void leavesAnInheritedConnectionAsItIs(String java) throws Exception {
    Child plain = run(java, List.of(), "connection");
    Child withAgent = run(java, List.of("-javaagent:" + Child.AGENT), "connection");
    assertThat(withAgent.out()).isEqualTo(plain.out()).containsExactly("selects = 1", "reads = 3");
  }

  private Child run(String java, List<String> options, String... arguments) throws Exception {
    List<String> all = new ArrayList<>(options);
    all.add("--add-opens");
    all.add("java.base/sun.nio.ch=ALL-UNNAMED");
    Child child = Child.run(java, all, Map.of(), InheritedMain.class, arguments);
    assertThat(child.status()).as("%s", child).isZero();
    return child;
  }
}
