// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import java.util.List;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/**
 * A {@link Row} as files have it, its conditions beside it: the names are the columns of {@code
 * results.csv}. What was not measured is null.
 */
@JsonNaming(SnakeCaseStrategy.class)
public record ResultLine(
    String run,
    String time,
    String host,
    String cpu,
    int cores,
    String kernel,
    String java,
    String talaria,
    String pinning,
    String server,
    String plan,
    BindingKind binding,
    SocketTransport transport,
    String transportsTaken,
    Pattern pattern,
    int processes,
    int connections,
    int sizeBytes,
    int ratePerSecond,
    int repetition,
    long operations,
    long messages,
    double elapsedS,
    double messagesPerS,
    double megabytesPerS,
    Double slowestProcessMessagesPerS,
    Double fastestProcessMessagesPerS,
    Double meanNs,
    @JsonProperty("p50_ns") Long p50,
    @JsonProperty("p90_ns") Long p90,
    @JsonProperty("p99_ns") Long p99,
    @JsonProperty("p99.9_ns") Long p999,
    @JsonProperty("p99.99_ns") Long p9999,
    Long maxNs,
    Double begunMeanNs,
    @JsonProperty("begun_p50_ns") Long begunP50,
    @JsonProperty("begun_p90_ns") Long begunP90,
    @JsonProperty("begun_p99_ns") Long begunP99,
    @JsonProperty("begun_p99.9_ns") Long begunP999,
    @JsonProperty("begun_p99.99_ns") Long begunP9999,
    Long begunMaxNs,
    long payloadBytes,
    Long interfaceBytes,
    Long infinibandBytes,
    String histogram) {

  /**
   * What is the same for all rows of a run.
   *
   * @param run the run's name
   * @param host this host's name
   * @param machine the conditions
   * @param server versions and name of the server's side
   * @param plan the plan's name
   */
  public record Environment(String run, String host, Machine machine, String server, String plan) {}

  /**
   * Returns a row with its conditions.
   *
   * @param of the conditions
   * @param row the row
   */
  public static ResultLine of(Environment of, Row row) {
    Machine machine = of.machine();
    Case measured = row.measured();
    boolean many = measured.pattern() == Pattern.ALL_TO_ALL;
    Histogram times = row.times();
    Histogram begun = row.sinceBegun();
    return new ResultLine(
        of.run(),
        machine.time(),
        of.host(),
        machine.cpu(),
        machine.cores(),
        machine.kernel(),
        machine.jdk(),
        machine.talaria(),
        machine.pinning(),
        of.server(),
        of.plan(),
        row.implementation().binding(),
        row.implementation().transport(),
        row.transports(),
        measured.pattern(),
        measured.processes(),
        measured.connections(),
        measured.sizeBytes(),
        measured.ratePerSecond(),
        row.repetition(),
        row.operations(),
        row.messages(),
        row.elapsedNs() / 1e9,
        row.messagesPerSecond(),
        row.megabytesPerSecond(),
        many ? row.slowestMessagesPerSecond() : null,
        many ? row.fastestMessagesPerSecond() : null,
        times == null ? null : times.getMean(),
        percentile(times, 50),
        percentile(times, 90),
        percentile(times, 99),
        percentile(times, 99.9),
        percentile(times, 99.99),
        percentile(times, 100),
        begun == null ? null : begun.getMean(),
        percentile(begun, 50),
        percentile(begun, 90),
        percentile(begun, 99),
        percentile(begun, 99.9),
        percentile(begun, 99.99),
        percentile(begun, 100),
        row.payloadBytes(),
        known(row.wireBytes()),
        known(row.infinibandBytes()),
        times == null ? "" : row.tag());
  }

  private static Long percentile(Histogram times, double percentile) {
    return times == null ? null : (Long) times.getValueAtPercentile(percentile);
  }

  private static Long known(long count) {
    return count < 0 ? null : (Long) count;
  }

  private static long orUnknown(Long count) {
    return count == null ? -1 : count;
  }

  /** Returns the implementation's name in files. */
  String implementation() {
    return new LinkImplementation(binding, transport).label();
  }

  /** Returns whether it can be a row: a rate is a number of messages in some time. */
  boolean sound() {
    return binding != null
        && transport != null
        && pattern != null
        && elapsedS > 0
        && (pattern != Pattern.ALL_TO_ALL || fastestProcessMessagesPerS != null);
  }

  /**
   * Returns the row with its times.
   *
   * @param find finds the histogram of what was timed by its name for machines; null if there is
   *     none
   */
  Row row(Function<String, Histogram> find) {
    Case measured = new Case(pattern, processes, connections, sizeBytes, ratePerSecond, 0);
    Histogram times = find.apply(measured.id());
    Histogram begun = times == null ? null : find.apply(measured.id() + Row.BEGUN);
    return new Row(
        new LinkImplementation(binding, transport),
        measured,
        repetition,
        transportsTaken,
        operations,
        messages,
        processNs(),
        begun == null ? times : begun,
        begun == null ? null : times,
        orUnknown(interfaceBytes),
        orUnknown(infinibandBytes));
  }

  /** Of many processes the line knows the slowest and the fastest. */
  private List<Long> processNs() {
    long all = Math.round(elapsedS * 1e9);
    return pattern == Pattern.ALL_TO_ALL
        ? List.of(all, Math.round(messages * 1e9 / processes / fastestProcessMessagesPerS))
        : List.of(all);
  }
}
