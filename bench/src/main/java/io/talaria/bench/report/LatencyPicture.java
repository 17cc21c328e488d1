// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.harness.Contender;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** A picture that stands alone: times by percentile, a line for each contender. */
public final class LatencyPicture {
  private LatencyPicture() {}

  /**
   * Draws it.
   *
   * @param title what was timed, for those who cannot see it, too
   * @param conditions where, and what disturbed it
   * @param times the times, in nanoseconds
   * @return the picture as SVG
   */
  public static String svg(String title, String conditions, Map<Contender, Histogram> times) {
    List<Series> lines = new ArrayList<>();
    times.forEach(
        (contender, histogram) ->
            lines.add(
                new Series(
                    contender.label()
                        + "   p50 "
                        + Units.time((double) histogram.getValueAtPercentile(50))
                        + ", p99 "
                        + Units.time((double) histogram.getValueAtPercentile(99)),
                    contender == Contender.TALARIA ? 0 : 1,
                    false,
                    false,
                    false,
                    Pictures.distribution(histogram))));
    Axis x = Pictures.percentiles("percentile; " + conditions);
    Axis y = Pictures.values(title, lines, Units::time);
    return HtmlReport.alone(new Picture(title + ", " + conditions, x, y, null, lines).svg());
  }
}
