// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** A picture that stands alone: times by percentile, a line for each implementation. */
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
  public static String svg(String title, String conditions, Map<Implementation, Histogram> times) {
    // All lines end where the shortest must: what was measured less often knows no rarer times.
    long fewest = times.values().stream().mapToLong(Histogram::getTotalCount).min().orElse(1);
    List<Series> lines = new ArrayList<>();
    times.forEach(
        (implementation, histogram) ->
            lines.add(
                new Series(
                    implementation.label()
                        + "   p50 "
                        + Units.time((double) histogram.getValueAtPercentile(50))
                        + ", p99 "
                        + Units.time((double) histogram.getValueAtPercentile(99)),
                    implementation == Implementation.TALARIA ? 0 : 1,
                    Series.Stroke.SOLID,
                    false,
                    Pictures.distribution(histogram, fewest))));
    Axis x = Pictures.percentiles("percentile; " + conditions);
    Axis y = Pictures.values(title, lines, Units::time);
    return Picture.withStyle(Picture.alone(title + ", " + conditions, x, y, lines).svg());
  }
}
