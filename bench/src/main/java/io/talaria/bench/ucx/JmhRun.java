// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.ucx.UcxPeer.Job;
import io.talaria.bench.ucx.UcxPeer.Order;
import io.talaria.bench.ucx.UcxPeer.Scores;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** One case, measured by JMH in a JVM that it forks for it. */
final class JmhRun {
  private static final int LIMIT_SECONDS = 60;

  private JmhRun() {}

  static Scores of(Job job, Path token, Order order) throws RunnerException {
    Collection<RunResult> results;
    try {
      results = new Runner(options(job, token, order)).run();
    } catch (RunnerException e) {
      throw new RunnerException(deepest(e), e);
    }
    List<Double> scores =
        results.stream()
            .flatMap(result -> result.getBenchmarkResults().stream())
            .map(BenchmarkResult::getIterationResults)
            .flatMap(Collection::stream)
            .map(IterationResult::getPrimaryResult)
            .map(result -> result.getScore())
            .toList();
    if (scores.isEmpty()) {
      throw new RunnerException("JMH has measured nothing; its output says why");
    }
    return new Scores(scores);
  }

  private static Options options(Job job, Path token, Order order) {
    Case what = order.what();
    UcxTiming timing = order.timing();
    return new OptionsBuilder()
        .include(Pattern.quote(UcxBenchmark.class.getName() + "." + what.kind().word()) + "$")
        .param("operation", what.operation().name())
        .param("sizeBytes", Integer.toString(what.sizeBytes()))
        .threads(what.threads())
        .operationsPerInvocation(what.batch())
        .forks(1)
        .warmupForks(0)
        .warmupIterations(timing.warmUps())
        .warmupTime(TimeValue.milliseconds(timing.warmUpMs()))
        .measurementIterations(timing.measures())
        .measurementTime(TimeValue.milliseconds(timing.measureMs()))
        .timeout(TimeValue.seconds(LIMIT_SECONDS))
        .shouldFailOnError(true)
        .verbosity(VerboseMode.SILENT)
        .jvmArgsAppend(
            property(UcxBenchmark.HOST, job.host()),
            property(UcxBenchmark.PORT, Integer.toString(job.port())),
            property(UcxBenchmark.TOKEN_FILE, token.toString()),
            property(UcxBenchmark.TRANSPORTS, order.transports()),
            property(UcxBenchmark.YIELDS, Boolean.toString(order.yields())))
        .build();
  }

  private static String property(String name, String value) {
    return "-D" + name + "=" + value;
  }

  /** JMH wraps what a benchmark has thrown, more than once. */
  private static String deepest(Throwable e) {
    Throwable deep = e;
    while (true) {
      if (deep.getCause() != null) {
        deep = deep.getCause();
      } else if (deep.getSuppressed().length > 0) {
        deep = deep.getSuppressed()[0];
      } else {
        return String.valueOf(deep.getMessage());
      }
    }
  }
}
