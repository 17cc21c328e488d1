// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent attached to a program that is already running. */
@Timeout(60)
class AttachTest {
  private static final String TALARIA = "io.talaria.nio.TalariaProvider";
  private static final String JDK = "sun.nio.ch.EPollSelectorProvider";

  @TempDir Path work;

  @Test
  void isInTimeBeforeTheFirstChannel() throws Exception {
    try (Running program = new Running(work)) {
      program.attach();
      assertThat(program.openChannel()).isEqualTo(TALARIA);
      assertThat(program.end())
          .singleElement()
          .asString()
          .startsWith("Talaria ")
          .contains("shared memory on this host");
    }
  }

  @Test
  void saysThatItCameTooLate() throws Exception {
    try (Running program = new Running(work)) {
      assertThat(program.openChannel()).isEqualTo(JDK);
      program.attach();
      assertThat(program.openChannel()).isEqualTo(JDK);
      assertThat(program.end())
          .containsExactly(
              "talaria: came too late, the program has already made channels of "
                  + JDK
                  + " and stays with it");
    }
  }

  @Test
  void neverEndsTheProgramForBadValue() throws Exception {
    try (Running program = new Running(work, "-Dtalaria.spin.ns=soon")) {
      program.attach();
      assertThat(program.openChannel()).isEqualTo(JDK);
      assertThat(program.end())
          .singleElement()
          .asString()
          .contains("talaria.spin.ns")
          .endsWith("; the program stays on the JDK's sockets");
    }
  }

  /** A JVM that runs {@link AttachProbeMain}. */
  private static final class Running implements AutoCloseable {
    private final Path err;
    private final Process process;
    private final BufferedReader out;

    Running(Path work, String... options) throws IOException {
      err = work.resolve("err");
      List<String> command = new ArrayList<>(List.of(Child.thisJava()));
      command.addAll(List.of(options));
      // Newer JVMs want to be told that attaching is meant.
      command.addAll(List.of("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading"));
      command.addAll(List.of("-cp", System.getProperty("talaria.test.classes")));
      command.add(AttachProbeMain.class.getName());
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
      builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
      process = builder.start();
      out = process.inputReader();
      assertThat(out.readLine()).isEqualTo("ready");
    }

    void attach() throws Exception {
      VirtualMachine machine = VirtualMachine.attach(Long.toString(process.pid()));
      try {
        machine.loadAgent(Child.AGENT);
      } finally {
        machine.detach();
      }
    }

    String openChannel() throws IOException {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
      return out.readLine();
    }

    /** Lets the program end and returns what it printed to the standard error stream. */
    List<String> end() throws IOException, InterruptedException {
      process.getOutputStream().close();
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isZero();
      return Files.readAllLines(err);
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}
