// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.math.BigInteger;

/**
 * Writes the text format 0.0.4 of Prometheus: the head of a metric, then its samples, each a name,
 * its labels and its value. Confined to one thread.
 */
public final class PrometheusWriter {
  /** What HTTP calls the format. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder out = new StringBuilder(1 << 14);

  /** Creates one without text. */
  public PrometheusWriter() {}

  /**
   * Says what a metric is, before its samples.
   *
   * @param metric its name
   * @param type {@code counter}, {@code gauge} or {@code untyped}
   * @param help what it means, in one line
   */
  public void head(String metric, String type, String help) {
    out.append("# HELP ").append(metric).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(metric).append(' ').append(type).append('\n');
  }

  /**
   * Begins a sample; its labels follow, then its value.
   *
   * @param metric the name of its metric
   * @return this
   */
  public PrometheusWriter sample(String metric) {
    out.append(metric).append('{');
    return this;
  }

  /**
   * Adds a label to the sample.
   *
   * @param name its name
   * @param value any text
   * @return this
   */
  public PrometheusWriter label(String name, String value) {
    if (out.charAt(out.length() - 1) != '{') {
      out.append(',');
    }
    out.append(name).append("=\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> out.append("\\\\");
        case '"' -> out.append("\\\"");
        case '\n' -> out.append("\\n");
        default -> out.append(c);
      }
    }
    out.append('"');
    return this;
  }

  /**
   * Ends the sample.
   *
   * @param value its value
   */
  public void value(long value) {
    out.append("} ").append(value).append('\n');
  }

  /**
   * Ends the sample.
   *
   * @param value its value
   */
  public void value(BigInteger value) {
    out.append("} ").append(value).append('\n');
  }

  /**
   * All that has been written.
   *
   * @return the text, each line ended by a line feed
   */
  public String text() {
    return out.toString();
  }
}
