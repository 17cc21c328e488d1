// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
  private static final Duration LIMIT = Duration.ofMinutes(50);

  /** Each state that jcstress makes has a ring of its own. */
  private static final int STRIDE = 16;

  private static final int STRIDES = 16;

  @TempDir Path dir;

  private ChildProcess run(String tests, int ms) throws Exception {
    List<Object> arguments = new ArrayList<>();
    arguments.addAll(List.of("-t", tests));
    arguments.addAll(List.of("-time", ms, "-iters", 1, "-f", 1));
    arguments.addAll(List.of("-c", 2, "-af", "NONE", "-sc", false));
    arguments.addAll(List.of("-strideSize", STRIDE, "-strideCount", STRIDES));
    arguments.addAll(List.of("-jvmArgs", "-XX:+UseSerialGC", "-r", dir));
    return ChildProcess.jvm(Main.class, arguments.toArray())
        .classPath(classPath())
        .directory(dir)
        .run(LIMIT);
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
    ChildProcess run =
        run(
            "RingStress.(MarkAgainstSleep|HeadAgainstWait|TwoProducers|SealAgainstClaim"
                + "|BytesBeforeMark|GrowthAgainstClaim|GrowthAgainstSleep)|MailboxStress.*",
            MS);
    assertThat(run.exitStatus()).as(run.output()).isZero();
    assertThat(run.output()).contains("[OK]").doesNotContain("[FAILED]").doesNotContain("[ERROR]");
  }

  /** These tests can fail. */
  @Test
  void whatIsLeftOutIsFound() throws Exception {
    ChildProcess run = run("RingStress.WithoutFences", MS);
    for (int i = 0; i < MAX_LONGER && !run.output().contains("[FAILED]"); i++) {
      run = run("RingStress.WithoutFences", LONGER * MS); // cores that are far apart, or busy
    }
    assertThat(run.output()).as("status %d", run.exitStatus()).contains("[FAILED]");
  }
}
