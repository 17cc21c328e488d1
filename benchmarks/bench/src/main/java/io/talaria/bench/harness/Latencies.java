// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** Histograms of round trips in nanoseconds: made alike everywhere, and sent between processes. */
public final class Latencies {
  /** Longer round trips are recorded as this long. */
  public static final long HIGHEST_NS = 60_000_000_000L;

  private static final int DIGITS = 3;

  private Latencies() {}

  /** Returns an empty histogram; recording into it allocates nothing. */
  public static Histogram histogram() {
    return new Histogram(1, HIGHEST_NS, DIGITS);
  }

  /**
   * Records one round trip.
   *
   * @param histogram where
   * @param ns how long it took, in nanoseconds
   */
  public static void record(Histogram histogram, long ns) {
    histogram.recordValue(Math.min(Math.max(ns, 1), HIGHEST_NS));
  }

  /**
   * Returns a histogram as text.
   *
   * @param histogram the histogram, not being recorded into
   */
  public static String encode(Histogram histogram) {
    ByteBuffer bytes = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(bytes);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length));
  }

  /**
   * Returns the histogram of a text made by {@link #encode}.
   *
   * @param text the text
   * @throws IllegalArgumentException if it is no such text
   */
  public static Histogram decode(String text) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(text)), HIGHEST_NS);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("not an encoded histogram", e);
    }
  }

  /**
   * The figures of a histogram that reports show, in nanoseconds.
   *
   * @param count how many round trips
   * @param mean their mean
   * @param p50 the median
   * @param p90 nine of ten are at most this
   * @param p99 99 of 100 are at most this
   * @param p999 999 of 1,000 are at most this
   * @param p9999 9,999 of 10,000 are at most this
   * @param max the longest
   */
  public record Percentiles(
      long count,
      double mean,
      double p50,
      double p90,
      double p99,
      double p999,
      double p9999,
      double max) {

    /**
     * Returns the figures of a histogram.
     *
     * @param histogram the histogram
     */
    public static Percentiles of(Histogram histogram) {
      return new Percentiles(
          histogram.getTotalCount(),
          histogram.getMean(),
          histogram.getValueAtPercentile(50),
          histogram.getValueAtPercentile(90),
          histogram.getValueAtPercentile(99),
          histogram.getValueAtPercentile(99.9),
          histogram.getValueAtPercentile(99.99),
          histogram.getMaxValue());
    }
  }
}
