// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What one run of a case gave.
 *
 * @param implementation the implementation
 * @param measured the case
 * @param repetition which repetition, from 1
 * @param transports the transports the connections took, as the client saw them
 * @param operations how many operations there were in all connections
 * @param messages how many messages that were, both ways
 * @param processNs how long they took each process that led: of a pair one, of many all
 * @param sinceBegun their times; null if none were taken
 * @param sinceDue of the open loop, likewise
 * @param wireBytes what the network interface has carried; negative if unknown
 * @param infinibandBytes what InfiniBand ports have; negative if there are none
 */
public record Row(
    LinkImplementation implementation,
    Case measured,
    int repetition,
    String transports,
    long operations,
    long messages,
    List<Long> processNs,
    Histogram sinceBegun,
    Histogram sinceDue,
    long wireBytes,
    long infinibandBytes) {
  /** What the name of times has added that count from an operation's own beginning. */
  static final String BEGUN = "/begun";

  /** Copies the list. */
  public Row {
    processNs = List.copyOf(processNs);
  }

  /** Returns how long all of it took. */
  public long elapsedNs() {
    return processNs.stream().mapToLong(Long::longValue).max().orElseThrow();
  }

  /** Returns messages a second. */
  public double messagesPerSecond() {
    return messages * 1e9 / elapsedNs();
  }

  /** Returns messages a second that the slowest process sent, all to all. */
  public double slowestMessagesPerSecond() {
    return messagesPerSecond() / measured.processes();
  }

  /** Returns messages a second that the fastest process sent, all to all. */
  public double fastestMessagesPerSecond() {
    long least = processNs.stream().mapToLong(Long::longValue).min().orElseThrow();
    return messages * 1e9 / least / measured.processes();
  }

  /** Returns 10^6 bytes of payload a second. */
  public double megabytesPerSecond() {
    return messagesPerSecond() * measured.sizeBytes() / 1e6;
  }

  /** Returns how many bytes of payload there were. */
  public long payloadBytes() {
    return messages * measured.sizeBytes();
  }

  /** Returns the times that count: in the open loop, those from when operations were due. */
  public Histogram times() {
    return sinceDue == null ? sinceBegun : sinceDue;
  }

  /**
   * Returns its histograms by the names for machines of what was timed: those of the case are
   * {@link #times}, and of the open loop there are those from an operation's own beginning, too.
   */
  public Map<String, Histogram> timed() {
    Map<String, Histogram> all = new LinkedHashMap<>();
    if (times() != null) {
      all.put(measured.id(), times());
    }
    if (sinceDue != null) {
      all.put(measured.id() + BEGUN, sinceBegun);
    }
    return all;
  }

  /** Returns the name of its {@link #times} in the log of histograms. */
  public String tag() {
    return tag(measured.id());
  }

  String tag(String id) {
    return HistogramLog.tag(id, implementation.label(), repetition);
  }
}
