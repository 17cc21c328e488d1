// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

/** Samples as a line of small bars. */
final class Sparkline {
  private static final String BARS = "▁▂▃▄▅▆▇█";
  private static final String ASCII = "_.-=+*%#";

  private Sparkline() {}

  /**
   * Draws the last samples, the newest at the right; the highest of those has the highest bar, and
   * what is not known is a blank.
   *
   * @param samples the oldest first; negative if not known
   * @param width how many characters at most
   * @param unicode whether there is more than ASCII
   */
  static String of(double[] samples, int width, boolean unicode) {
    String bars = unicode ? BARS : ASCII;
    int from = Math.max(0, samples.length - Math.max(0, width));
    double highest = 0;
    for (int i = from; i < samples.length; i++) {
      highest = Math.max(highest, samples[i]);
    }
    StringBuilder line = new StringBuilder();
    for (int i = from; i < samples.length; i++) {
      if (samples[i] < 0 || Double.isNaN(samples[i])) {
        line.append(' ');
      } else if (highest == 0 || samples[i] == 0) {
        line.append(bars.charAt(0));
      } else {
        int bar = (int) Math.ceil(samples[i] / highest * (bars.length() - 1));
        line.append(bars.charAt(Math.min(bar, bars.length() - 1)));
      }
    }
    return line.toString();
  }
}
