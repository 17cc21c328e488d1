// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

/**
 * Runs {@link RingStress} and {@link io.talaria.nio.memory.SleepWordStress}: briefly, or for as
 * many milliseconds a test as the property {@code talaria.test.jcstress.ms} says.
 */
@Tag("long")
@Timeout(3600)
class RingStressedTest {
  private static final int MS = Integer.getInteger("talaria.test.jcstress.ms", 400);

  /** How much longer, and how often, a control is run that has found nothing. */
  private static final int LONGER = 10;

  private static final int MAX_LONGER = 3;
  private static final Duration LIMIT = Duration.ofMinutes(50);

  /** A ring's state that jcstress makes has a place of its own in {@link StressedRing}. */
  private static final int STRIDE = 64;

  private static final int STRIDES = StressedRing.PLACES / STRIDE / 4;

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
        Stream.of(RingStress.class, ShmStream.class, Main.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath());
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Stream<String> libraries =
        Stream.of(all.split(File.pathSeparator)).filter(each -> each.matches(".*/(jopt|jna).*"));
    return Stream.concat(own, libraries).distinct().collect(Collectors.joining(File.pathSeparator));
  }

  @Test
  void noInterleavingLosesAWakeUpOrAByte() throws Exception {
    ChildProcess run =
        run(
            "RingStress.(WriteAgainstSleep|ReadAgainstSleep|MoveAgainstRead|ReturnAgainstRead"
                + "|FinishAgainstWrite)|SleepWordStress.Publication.*",
            MS);
    assertThat(run.exitStatus()).as(run.output()).isZero();
    assertThat(run.output()).contains("[OK]").doesNotContain("[FAILED]").doesNotContain("[ERROR]");
  }

  /** These tests can fail. */
  @Test
  void whatIsLeftOutIsFound() throws Exception {
    List<String> controls =
        new ArrayList<>(
            List.of(
                "RingStress.EndWithoutAsking",
                "SleepWordStress.WithoutFenceOfWaker",
                "SleepWordStress.WithoutFenceOfSleeper",
                "SleepWordStress.SameEpochAgain"));
    ChildProcess run = runControls(controls, MS);
    for (int i = 0; i < MAX_LONGER && !controls.isEmpty(); i++) {
      run = runControls(controls, LONGER * MS); // cores that are far apart, or busy
    }
    assertThat(controls).as("not found, status %d: %s", run.exitStatus(), run.output()).isEmpty();
  }

  /** Runs tests that must fail, and takes those away that did. */
  private ChildProcess runControls(List<String> controls, int ms) throws Exception {
    ChildProcess run = run(String.join("|", controls), ms);
    controls.removeIf(
        each ->
            Pattern.compile("\\[FAILED] \\S*" + Pattern.quote(each)).matcher(run.output()).find());
    return run;
  }
}
