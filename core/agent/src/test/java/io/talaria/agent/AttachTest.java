// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.tools.attach.VirtualMachine;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The agent attached to a program that is already running. */
@Timeout(60)
class AttachTest {
  private static final String TALARIA = "io.talaria.nio.TalariaProvider";
  private static final String JDK = "sun.nio.ch.EPollSelectorProvider";

  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Test
  void isInTimeBeforeTheFirstChannel() throws Exception {
    try (Running program = new Running()) {
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
    try (Running program = new Running()) {
      assertThat(program.openChannel()).isEqualTo(JDK);
      program.attach();
      assertThat(program.openChannel()).isEqualTo(JDK);
      assertThat(program.end())
          .containsExactly(
              "talaria: was attached too late, the program has already made channels of "
                  + JDK
                  + " and stays with it");
    }
  }

  @Test
  void changesNothingIfItCameTooLate() throws Exception {
    try (Running program = new Running("-Dtalaria.sockets=true")) {
      assertThat(program.openChannel()).isEqualTo(JDK);
      program.attach();
      assertThat(program.run(AttachProbeMain.SOCKETS)).isEqualTo("read 7");
      assertThat(program.run("io.netty.transport.noNative")).isEqualTo("null");
      assertThat(program.run("java.nio.channels.spi.SelectorProvider")).isEqualTo("null");
      assertThat(program.end()).singleElement().asString().contains("attached too late");
    }
  }

  @Test
  void isInTimeBeforeTheFirstSocket() throws Exception {
    try (Running program = new Running("-Dtalaria.sockets=true")) {
      program.attach();
      assertThat(program.run(AttachProbeMain.SOCKETS)).isEqualTo("read 7");
      assertThat(program.run("io.netty.transport.noNative")).isEqualTo("true");
      assertThat(program.openChannel()).isEqualTo(TALARIA);
      assertThat(program.end()).singleElement().asString().startsWith("Talaria ");
    }
  }

  @Test
  void attachedTwiceItIsSwitchedOnOnce() throws Exception {
    try (Running program = new Running("-Dtalaria.sockets=true")) {
      program.attach();
      program.attach();
      assertThat(program.openChannel()).isEqualTo(TALARIA);
      assertThat(program.end()).singleElement().asString().startsWith("Talaria ");
    }
  }

  @Test
  void neverEndsTheProgramForBadValue() throws Exception {
    try (Running program = new Running("-Dtalaria.spin.ns=soon")) {
      program.attach();
      assertThat(program.openChannel()).isEqualTo(JDK);
      assertThat(program.end())
          .singleElement()
          .asString()
          .contains("talaria.spin.ns")
          .endsWith("; the program stays on the JDK's sockets");
    }
  }

  @Test
  void neverEndsTheProgramForOptionsOfTheAgent() throws Exception {
    try (Running program = new Running()) {
      program.attach("quiet=true");
      assertThat(program.openChannel()).isEqualTo(JDK);
      assertThat(program.end())
          .containsExactly(
              "talaria: the agent has no options, but was given 'quiet=true': set system properties"
                  + " instead, such as -Dtalaria.quiet=true; the program stays on the JDK's"
                  + " sockets");
    }
  }

  /** A JVM that runs {@link AttachProbeMain}. */
  private static final class Running implements AutoCloseable {
    private final ChildProcess process;

    Running(String... options) throws IOException, InterruptedException {
      process =
          ChildProcess.jvm(AttachProbeMain.class)
              .options(options)
              // Newer JVMs want to be told that attaching is meant.
              .options("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading")
              .classPath(System.getProperty("talaria.test.classes"))
              .start();
      assertThat(process.awaitLine(".*", LIMIT).group()).isEqualTo("ready");
    }

    void attach() throws Exception {
      attach(null);
    }

    void attach(String agentOptions) throws Exception {
      VirtualMachine machine = VirtualMachine.attach(Long.toString(process.pid()));
      try {
        machine.loadAgent(Child.AGENT, agentOptions);
      } finally {
        machine.detach();
      }
    }

    String openChannel() throws IOException, InterruptedException {
      return run(AttachProbeMain.PROVIDER);
    }

    String run(String line) throws IOException, InterruptedException {
      process.send(line);
      return process.awaitLine(".*", LIMIT).group();
    }

    /** Lets the program end and returns what it printed to the standard error stream. */
    List<String> end() throws InterruptedException {
      process.closeInput();
      return process.awaitSuccess(LIMIT).err();
    }

    @Override
    public void close() {
      process.close();
    }
  }
}
