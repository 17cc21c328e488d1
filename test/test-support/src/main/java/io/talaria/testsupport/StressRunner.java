// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.testsupport;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs tests of jcstress in a JVM of their own: each for a moment, or for as many milliseconds as
 * the property {@code talaria.test.jcstress.ms} says. Confined to one thread.
 */
public final class StressRunner {
  private static final int MS = Integer.getInteger("talaria.test.jcstress.ms", 400);

  /** How much longer, and how often, a control is run that has found nothing. */
  private static final int LONGER = 10;

  private static final int MAX_LONGER = 3;
  private static final Duration LIMIT = Duration.ofMinutes(50);

  private final Path directory;
  private final int strideSize;
  private final int strideCount;
  private final Class<?> main;
  private final List<Class<?>> tested;

  /**
   * Makes a runner.
   *
   * @param directory where jcstress may write
   * @param strideSize how many states jcstress makes at a time
   * @param strideCount how often, before it uses them again
   * @param main jcstress's main class
   * @param tested a class of each place from which the JVM needs classes, besides jcstress's own
   */
  public StressRunner(
      Path directory, int strideSize, int strideCount, Class<?> main, Class<?>... tested) {
    this.directory = directory;
    this.strideSize = strideSize;
    this.strideCount = strideCount;
    this.main = main;
    this.tested = List.of(tested);
  }

  private ChildProcess run(String tests, int ms) throws IOException, InterruptedException {
    List<Object> arguments = new ArrayList<>();
    arguments.addAll(List.of("-t", tests));
    arguments.addAll(List.of("-time", ms, "-iters", 1, "-f", 1));
    arguments.addAll(List.of("-c", 2, "-af", "NONE", "-sc", false));
    arguments.addAll(List.of("-strideSize", strideSize, "-strideCount", strideCount));
    arguments.addAll(List.of("-jvmArgs", "-XX:+UseSerialGC", "-r", directory));
    return ChildProcess.jvm(main, arguments.toArray())
        .classPath(classPath())
        .directory(directory)
        .run(LIMIT);
  }

  /** Only what is needed: the places from which these classes come. */
  private String classPath() {
    Stream<String> own =
        Stream.concat(tested.stream(), Stream.of(main))
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath());
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Stream<String> libraries =
        Stream.of(all.split(File.pathSeparator, -1))
            .filter(each -> each.matches(".*/(jopt|jna).*"));
    return Stream.concat(own, libraries).distinct().collect(Collectors.joining(File.pathSeparator));
  }

  /**
   * Runs tests that must pass.
   *
   * @param tests what their names contain, a regular expression
   * @throws AssertionError if one has failed, or none was run
   */
  public void requirePassed(String tests) throws IOException, InterruptedException {
    ChildProcess run = run(tests, MS);
    String said = run.output();
    boolean passed = said.contains("[OK]") && !said.matches("(?s).*\\[(FAILED|ERROR)].*");
    if (run.exitStatus() != 0 || !passed) {
      throw new AssertionError("not all have passed: " + run);
    }
  }

  /**
   * Runs tests that must fail, those that have not again and longer: cores may be far apart, or
   * busy.
   *
   * @param controls how their names end, without what jcstress puts behind them
   * @throws AssertionError if one has not failed
   */
  public void requireFailed(String... controls) throws IOException, InterruptedException {
    List<String> left = new ArrayList<>(Arrays.asList(controls));
    ChildProcess run = runControls(left, MS);
    for (int i = 0; i < MAX_LONGER && !left.isEmpty(); i++) {
      run = runControls(left, LONGER * MS);
    }
    if (!left.isEmpty()) {
      throw new AssertionError("what is wrong was not found: " + left + ", " + run);
    }
  }

  /** Takes those away that have failed. */
  private ChildProcess runControls(List<String> controls, int ms)
      throws IOException, InterruptedException {
    ChildProcess run = run(String.join("|", controls), ms);
    controls.removeIf(
        each ->
            Pattern.compile("\\[FAILED] \\S*" + Pattern.quote(each)).matcher(run.output()).find());
    return run;
  }
}
