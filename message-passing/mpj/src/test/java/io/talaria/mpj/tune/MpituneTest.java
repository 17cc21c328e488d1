// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.talaria.mpj.collective.Choice;
import io.talaria.mpj.engine.Settings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code mpitune} makes of times, and that it gets some. */
@Timeout(250)
class MpituneTest {
  private static SortedMap<Integer, Long> times(long... ns) {
    SortedMap<Integer, Long> times = new TreeMap<>();
    for (int i = 0; i < ns.length; i++) {
      times.put(100 << i, ns[i]);
    }
    return times;
  }

  @Test
  void messagesGoEagerlyAsLongAsThatIsNotSlower() {
    assertThat(Mpitune.eager(times(20, 30, 40), times(10, 20, 30))).isEqualTo(400);
    assertThat(Mpitune.eager(times(20, 30, 40), times(10, 31, 60))).isEqualTo(200);
    assertThat(Mpitune.eager(times(20, 30, 40), times(30, 20, 30))).isZero();
  }

  @Test
  void anAlgorithmStaysUntilAnotherIsNotablyFaster() {
    Map<String, SortedMap<Integer, Long>> times = new LinkedHashMap<>();
    times.put("a", times(10, 20, 30, 40));
    times.put("b", times(11, 19, 20, 41));
    times.put("c", times(50, 50, 50, 10));
    assertThat(Mpitune.steps(times)).isEqualTo("a,400:b,800:c");
    times.remove("c");
    assertThat(Mpitune.steps(times)).isEqualTo("a,400:b");
    times.remove("b");
    assertThat(Mpitune.steps(times)).isEqualTo("a");
  }

  @Test
  void whatItPrintsIsAllowed() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int status =
        Mpitune.run(
            new String[] {"-np", "2", "-quick", "-timeout", "200"},
            new PrintStream(out, true, StandardCharsets.UTF_8));
    String text = out.toString(StandardCharsets.UTF_8);
    assertThat(status).as(text).isZero();
    String last = text.lines().toList().getLast();
    List<String> options = List.of(last.split(" "));
    assertThat(options)
        .hasSize(7)
        .allMatch(option -> option.startsWith("-Dtalaria.mpj."))
        .anyMatch(option -> option.startsWith("-Dtalaria.mpj.eager="))
        .anyMatch(option -> option.startsWith("-Dtalaria.mpj.coll.allreduce="));
    assertThatCode(() -> Choice.check(Settings.ofOptions(options).algorithms()))
        .doesNotThrowAnyException();
    assertThat(text).contains("scatter-ring").contains("recursive-doubling");
  }

  @Test
  void theCommandLineIsChecked() {
    PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
    assertThat(Mpitune.run(new String[] {"--help"}, out)).isZero();
    assertThat(Mpitune.run(new String[] {}, out)).isEqualTo(2);
    assertThat(Mpitune.run(new String[] {"-np", "1"}, out)).isEqualTo(2);
    assertThat(Mpitune.run(new String[] {"-np", "2", "-quick", "-dev", "none"}, out)).isEqualTo(2);
  }
}
