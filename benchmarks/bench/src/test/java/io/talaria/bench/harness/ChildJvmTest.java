// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.HarnessException;
import io.talaria.nio.authentication.KeyProof;
import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ChildJvmTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** A child that does what its first order says. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) {
      ParentLink.serve(
          link -> {
            String order = link.receive(String.class);
            switch (order) {
              case "fail" -> throw new IllegalStateException("as ordered");
              case "die" -> {
                System.out.println("last words");
                Runtime.getRuntime().halt(9);
              }
              case "hang" -> link.receive(String.class);
              default -> link.report("done", order);
            }
          });
    }
  }

  /** A child that makes the file its order names, when it ends. */
  static final class Tidy {
    private Tidy() {}

    public static void main(String[] args) {
      ParentLink.serve(
          link -> {
            Path file = Path.of(link.receive(String.class));
            Thread tidy = new Thread(() -> file.toFile().mkdir());
            Runtime.getRuntime().addShutdownHook(tidy);
            link.report("ready", "");
            link.receive(String.class);
          });
    }
  }

  /** A parent that starts a child, says its number, and waits for its own end. */
  static final class Parent {
    private Parent() {}

    public static void main(String[] args) throws Exception {
      ChildJvm child =
          ChildJvm.start(
              new ChildSpec("child", Tidy.class, Pinning.NONE, null, List.of("-Xmx64m")));
      child.await("hello", JsonNode.class, LIMIT);
      child.send(args[0]);
      child.await("ready", String.class, LIMIT);
      System.out.println(child.pid());
      child.await("never", String.class, Duration.ofDays(1));
    }
  }

  private static ChildJvm start() throws HarnessException {
    return ChildJvm.start(
        new ChildSpec("child", Program.class, Pinning.NONE, null, List.of("-Xmx64m")));
  }

  @Test
  void ordersGoInAndEventsComeOut() throws Exception {
    try (ChildJvm child = start()) {
      assertThat(child.await("hello", JsonNode.class, LIMIT).path("provider").asText())
          .startsWith("sun.nio.ch.");
      child.send("something");
      assertThat(child.await("done", String.class, LIMIT)).isEqualTo("something");
    }
  }

  @Test
  void aFailureIsToldWithItsTrace() throws Exception {
    try (ChildJvm child = start()) {
      child.await("hello", JsonNode.class, LIMIT);
      child.send("fail");
      assertThatThrownBy(() -> child.await("done", String.class, LIMIT))
          .isInstanceOf(HarnessException.class)
          .hasMessageContaining("the child failed: java.lang.IllegalStateException: as ordered")
          .hasMessageContaining("at io.talaria.bench.harness.ChildJvmTest");
    }
  }

  @Test
  void aDeathIsToldWithStatusAndOutput() throws Exception {
    try (ChildJvm child = start()) {
      child.await("hello", JsonNode.class, LIMIT);
      child.send("die");
      assertThatThrownBy(() -> child.await("done", String.class, LIMIT))
          .isInstanceOf(HarnessException.class)
          .hasMessageContaining("the child ended before it reported 'done' (exit status 9)")
          .hasMessageContaining("last words");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoHasGoneAfterAFailureIsToldWithIt(boolean read) throws Exception {
    try (ChildJvm child = start()) {
      child.await("hello", JsonNode.class, LIMIT);
      child.send("fail");
      if (read) {
        assertThatThrownBy(() -> child.await("done", String.class, LIMIT))
            .isInstanceOf(HarnessException.class);
      }
      assertThat(child.gone(LIMIT))
          .hasValueSatisfying(
              gone ->
                  assertThat(gone)
                      .hasMessageContaining("failed: java.lang.IllegalStateException: as ordered")
                      .hasMessageContaining("at io.talaria.bench.harness.ChildJvmTest")
                      .hasMessageContaining("(exit status 1)"));
    }
  }

  @Test
  void whetherItHasGoneIsToldToWhoeverAsks() throws Exception {
    try (ChildJvm child = start()) {
      child.await("hello", JsonNode.class, LIMIT);
      assertThat(child.gone(Duration.ZERO)).isEmpty();
      child.send("die");
      assertThat(child.gone(LIMIT))
          .hasValueSatisfying(
              gone ->
                  assertThat(gone)
                      .hasMessageContaining("the child ended (exit status 9)")
                      .hasMessageContaining("last words"));
    }
  }

  @Test
  void silenceEndsAtItsLimitAndClosingEndsTheProcess() throws Exception {
    long pid;
    try (ChildJvm child = start()) {
      pid = child.pid();
      child.await("hello", JsonNode.class, LIMIT);
      child.send("hang");
      assertThatThrownBy(() -> child.await("done", String.class, Duration.ofMillis(50)))
          .isInstanceOf(HarnessException.class)
          .hasMessageContaining("the child did not report 'done' within 0 s")
          .hasMessageContaining("Full thread dump");
    }
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEqualTo(Optional.empty());
  }

  /** What a child has in shared memory would stay behind if it were killed. */
  @Test
  void aParentThatIsInterruptedLetsItsChildTidyUp(@TempDir Path folder) throws Exception {
    Path tidied = folder.resolve("tidied");
    try (ChildProcess parent = ChildProcess.jvm(Parent.class, tidied).options("-Xmx64m").start()) {
      long child = Long.parseLong(parent.awaitLine("\\d+", LIMIT).group());
      parent.signal("TERM");
      int unused = parent.awaitEnd(LIMIT);
      assertThat(ProcessHandle.of(child).filter(ProcessHandle::isAlive)).isEmpty();
      assertThat(tidied).exists();
    }
  }

  @Test
  void aMissingAgentIsTold() throws Exception {
    ChildSpec spec =
        new ChildSpec(
            "child", Program.class, Pinning.NONE, Path.of("/nowhere/agent.jar"), List.of());
    try (ChildJvm child = ChildJvm.start(spec)) {
      assertThatThrownBy(() -> child.await("hello", JsonNode.class, LIMIT))
          .isInstanceOf(HarnessException.class)
          .hasMessageContaining("the child ended before it reported 'hello'")
          .hasMessageContaining("/nowhere/agent.jar");
    }
  }

  /** The agent brings nio with it; without the agent, verbs-net takes its proof of a key. */
  @Test
  void nioIsOnTheClassPathWithoutTheAgentOnly() {
    String nio = KeyProof.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    Path place = Path.of(nio);
    ChildSpec without = new ChildSpec("a", Program.class, Pinning.NONE, null, List.of());
    ChildSpec with =
        new ChildSpec("b", Program.class, Pinning.NONE, Path.of("/nowhere/agent.jar"), List.of());
    assertThat(classPath(without)).contains(place);
    assertThat(classPath(with)).isNotEmpty().doesNotContain(place);
  }

  private static List<Path> classPath(ChildSpec spec) {
    List<String> words = spec.command();
    String text = words.get(words.indexOf("-cp") + 1);
    return Stream.of(text.split(File.pathSeparator, -1)).map(Path::of).toList();
  }
}
