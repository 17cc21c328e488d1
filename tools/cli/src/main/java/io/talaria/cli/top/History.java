// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import java.util.Arrays;

/** The last rates of a port, a sample for each look. */
final class History {
  /** How many samples are kept: a minute of looks each second. */
  static final int SAMPLES = 60;

  private final double[] in = unknown();
  private final double[] out = unknown();

  private static double[] unknown() {
    double[] samples = new double[SAMPLES];
    Arrays.fill(samples, -1);
    return samples;
  }

  /** Takes the next rates, negative if not known; the oldest go. */
  void add(double inRate, double outRate) {
    shift(in, inRate);
    shift(out, outRate);
  }

  private static void shift(double[] samples, double next) {
    System.arraycopy(samples, 1, samples, 0, SAMPLES - 1);
    samples[SAMPLES - 1] = next;
  }

  double[] in() {
    return in;
  }

  double[] out() {
    return out;
  }
}
