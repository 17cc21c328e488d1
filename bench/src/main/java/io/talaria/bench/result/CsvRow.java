// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.Road;
import io.talaria.cli.harness.HarnessException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/**
 * A row of a file of results as it is read back, its cells by column.
 *
 * @param place the file and line, for messages
 * @param cells the cells
 */
record CsvRow(String place, Map<String, String> cells) {
  String text(String column) throws HarnessException {
    String cell = cells.get(column);
    if (cell == null) {
      throw new HarnessException(place + " has no column " + column);
    }
    return cell;
  }

  private <T> T as(String column, Function<String, T> parser, String wanted)
      throws HarnessException {
    String cell = text(column);
    try {
      return parser.apply(cell);
    } catch (NumberFormatException e) {
      throw new HarnessException(
          place + ": " + column + " is '" + cell + "'; it must be " + wanted, e);
    }
  }

  private int integer(String column) throws HarnessException {
    return as(column, Integer::valueOf, "a whole number");
  }

  private double positive(String column) throws HarnessException {
    double value = as(column, Double::valueOf, "a number above 0");
    if (!(value > 0)) {
      throw new HarnessException(
          place + ": " + column + " is '" + text(column) + "'; it must be a number above 0");
    }
    return value;
  }

  private long count(String column) throws HarnessException {
    return as(column, Long::valueOf, "a whole number");
  }

  private long countOrUnknown(String column) throws HarnessException {
    return text(column).isEmpty() ? -1 : count(column);
  }

  private <E> E name(String column, List<E> values, Function<E, String> label)
      throws HarnessException {
    String cell = text(column);
    for (E value : values) {
      if (label.apply(value).equals(cell)) {
        return value;
      }
    }
    throw new HarnessException(
        place
            + ": "
            + column
            + " is '"
            + cell
            + "'; it must be one of "
            + String.join(", ", values.stream().map(label).toList()));
  }

  /**
   * Returns what the row says, without times.
   *
   * @throws HarnessException if a cell is missing or makes no sense
   */
  Row row() throws HarnessException {
    Case measured =
        new Case(
            name("pattern", List.of(Pattern.values()), Pattern::label),
            integer("processes"),
            integer("connections"),
            integer("size_bytes"),
            integer("rate_per_second"),
            0);
    return new Row(
        new Contender(
            name("binding", List.of(BindingKind.values()), BindingKind::label),
            name("road", List.of(Road.values()), Road::label)),
        measured,
        integer("repetition"),
        text("roads_taken"),
        count("operations"),
        count("messages"),
        processNs(measured),
        null,
        null,
        countOrUnknown("interface_bytes"),
        countOrUnknown("infiniband_bytes"));
  }

  /** Of many processes the file knows the slowest and the fastest. */
  private List<Long> processNs(Case measured) throws HarnessException {
    long all = (long) (positive("elapsed_s") * 1e9);
    if (measured.pattern() != Pattern.ALL_TO_ALL) {
      return List.of(all);
    }
    double fastest = positive("fastest_process_messages_per_s");
    return List.of(all, (long) (count("messages") * 1e9 / measured.processes() / fastest));
  }

  /** Returns a row with the times that its histograms hold. */
  Row row(Map<String, Histogram> histograms) throws HarnessException {
    Row bare = row();
    String tag = text("histogram");
    Histogram times = histograms.get(tag);
    if (!bare.measured().pattern().latency() || times == null) {
      return bare;
    }
    Histogram begun = histograms.get(tag + HistogramLog.BEGUN);
    return begun == null ? bare.with(times, null) : bare.with(begun, times);
  }
}
