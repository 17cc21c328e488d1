// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** docs/verbs-net.md has every option with its range and default, and every metric. */
class DocumentationTest {
  private static final Path DOCUMENT = Path.of("..", "..", "docs", "verbs-net.md");

  /** The cells of a table without its head. */
  private static List<String[]> table(String head) throws IOException {
    List<String> lines = Files.readAllLines(DOCUMENT);
    List<String[]> rows = new ArrayList<>();
    int at = lines.indexOf(head);
    assertThat(at).as(head).isNotNegative();
    for (at += 2; at < lines.size() && lines.get(at).startsWith("|"); at++) {
      rows.add(
          Arrays.stream(lines.get(at).split("\\|"))
              .map(cell -> cell.strip().replace("`", ""))
              .toArray(String[]::new));
    }
    return rows;
  }

  @Test
  void everyOptionIsDescribedWithItsRangeAndDefault() throws Throwable {
    String defaults = ", " + NetOptions.builder().build() + ",";
    List<String> described = new ArrayList<>();
    for (String[] cells : table("| option | range | default | |")) {
      String name = cells[1];
      described.add(name);
      if (cells[2].matches("-?[0-9]+ to [0-9]+")) {
        String[] range = cells[2].split(" to ");
        long least = Long.parseLong(range[0]);
        long most = Long.parseLong(range[1]);
        set(name, least);
        set(name, most);
        for (long wrong : new long[] {least - 1, most + 1}) {
          assertThatThrownBy(() -> set(name, wrong))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessage(
                  "%s is %d, but must be from %d to %d".formatted(name, wrong, least, most));
        }
      }
      if (cells[3].matches("-?[0-9]+")) {
        assertThat(defaults).contains(", " + name + "=" + cells[3] + ",");
      }
    }
    List<String> known =
        Arrays.stream(NetOptions.Builder.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .map(Method::getName)
            .filter(name -> !name.equals("build"))
            .toList();
    assertThat(described).containsExactlyInAnyOrderElementsOf(known);
  }

  private static void set(String name, long value) throws Throwable {
    for (Method method : NetOptions.Builder.class.getMethods()) {
      if (method.getName().equals(name)) {
        MethodHandle handle = MethodHandles.lookup().unreflect(method);
        Object ignored =
            method.getParameterTypes()[0] == int.class
                ? handle.invoke(NetOptions.builder(), (int) value)
                : handle.invoke(NetOptions.builder(), value);
        return;
      }
    }
    throw new AssertionError("no option " + name);
  }

  @Test
  void everyMetricIsDescribed() throws IOException {
    List<String> described = table("| metric | counts |").stream().map(cells -> cells[1]).toList();
    assertThat(described)
        .containsExactlyElementsOf(
            Arrays.stream(Metrics.class.getRecordComponents())
                .map(RecordComponent::getName)
                .toList());
  }
}
