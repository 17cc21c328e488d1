// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

/**
 * Runs {@link RingStress} and the mailbox's: briefly, or for as many milliseconds a test as the
 * property {@code talaria.test.jcstress.ms} says.
 */
@Tag("long")
@Timeout(3600)
class RingStressedTest {
  private static final int MS = Integer.getInteger("talaria.test.jcstress.ms", 400);

  /** How much longer, and how often, a control is run that has found nothing. */
  private static final int LONGER = 10;

  private static final int MAX_LONGER = 3;
  private static final long LIMIT_S = 3_000;

  /** Each state that jcstress makes has a ring of its own. */
  private static final int STRIDE = 16;

  private static final int STRIDES = 16;

  @TempDir Path dir;

  private record Run(int status, String output) {}

  private Run run(String tests, int ms) throws Exception {
    Path output = dir.resolve("output");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", classPath(), Main.class.getName()));
    command.addAll(List.of("-t", tests));
    command.addAll(List.of("-time", Integer.toString(ms), "-iters", "1", "-f", "1"));
    command.addAll(List.of("-c", "2", "-af", "NONE", "-sc", "false"));
    command.addAll(
        List.of(
            "-strideSize", Integer.toString(STRIDE), "-strideCount", Integer.toString(STRIDES)));
    command.addAll(List.of("-jvmArgs", "-XX:+UseSerialGC", "-r", dir.toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).as("ended in time").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Run(process.exitValue(), Files.readString(output));
  }

  /** Only what is needed: the places from which these classes come. */
  private static String classPath() throws IOException {
    Stream<String> own =
        Stream.of(RingStress.class, RingProducer.class, Main.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath());
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Stream<String> libraries =
        Stream.of(all.split(File.pathSeparator)).filter(each -> each.matches(".*/(jopt|jna).*"));
    return Stream.concat(own, libraries).distinct().collect(Collectors.joining(File.pathSeparator));
  }

  @Test
  void noInterleavingLosesAWakeUpOrARecord() throws Exception {
    Run run =
        run(
            "RingStress.(MarkAgainstSleep|HeadAgainstWait|TwoProducers|SealAgainstClaim"
                + "|BytesBeforeMark|GrowthAgainstClaim|GrowthAgainstSleep)|MailboxStress.*",
            MS);
    assertThat(run.status).as(run.output).isZero();
    assertThat(run.output).contains("[OK]").doesNotContain("[FAILED]").doesNotContain("[ERROR]");
  }

  /** These tests can fail. */
  @Test
  void whatIsLeftOutIsFound() throws Exception {
    Run run = run("RingStress.WithoutFences", MS);
    for (int i = 0; i < MAX_LONGER && !run.output.contains("[FAILED]"); i++) {
      run = run("RingStress.WithoutFences", LONGER * MS); // cores that are far apart, or busy
    }
    assertThat(run.output).as("status %d", run.status).contains("[FAILED]");
  }
}
