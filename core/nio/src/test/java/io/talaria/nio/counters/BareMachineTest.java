// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.TalariaManagement;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.testsupport.ChildProcess;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Counting needs nothing beyond java.base, and starts nothing a program does not expect. */
@Timeout(120)
class BareMachineTest {
  @TempDir Path dir;

  /** The program that runs in the other JVM. */
  static final class Program {
    private Program() {}

    /** Counts a connection and says what happened. */
    public static void main(String[] args) throws Exception {
      try (ProcessCounters counters = ProcessCounters.open(Path.of(args[0]), Runnable::run)) {
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", 9092);
        ConnectionCounters connection = counters.connection(Role.CLIENT, address, address);
        connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring");
        connection.acceleratedIn(1);
        System.out.println("read " + CountersReader.read(counters.path()).connections().size());
        System.out.println("program " + CountersReader.read(counters.path()).program());
        connection.close();
      }
      if (args.length > 1) {
        System.out.println("JMX " + TalariaManagement.register());
      }
    }
  }

  private List<String> run(String jvmOption, String... more) throws Exception {
    return ChildProcess.jvm(Program.class, Stream.concat(Stream.of(dir), Stream.of(more)).toArray())
        .options(jvmOption)
        .oneOutput()
        .runSuccessfully(Duration.ofSeconds(60))
        .out();
  }

  @Test
  void withoutManagementAndFlightRecorderThereIsSimplyNone() throws Exception {
    assertThat(run("--limit-modules=java.base", "jmx"))
        .containsExactly("read 1", "program BareMachineTest$Program", "JMX false");
  }

  @Test
  void neitherLoggingNorSecurityNorManagementIsStarted() throws Exception {
    List<String> loaded = run("-verbose:class");
    assertThat(loaded).anyMatch(line -> line.contains("io.talaria.nio.counters.ProcessCounters"));
    assertThat(loaded)
        .noneMatch(line -> line.contains(" java.util.logging."))
        .noneMatch(line -> line.contains(" java.lang.management."))
        .noneMatch(line -> line.contains(" java.security.Provider "))
        .noneMatch(line -> line.contains(" java.security.MessageDigest"))
        .noneMatch(line -> line.contains(" javax.crypto."))
        .noneMatch(line -> line.contains(" io.talaria.nio.counters.ConnectionDecidedEvent"));
  }
}
