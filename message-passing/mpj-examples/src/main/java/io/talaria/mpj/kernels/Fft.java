// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/**
 * Fourier transforms of one length, a power of two, without a factor in front, of lines of complex
 * numbers in an array: real part, imaginary part. For one thread.
 */
final class Fft {
  private final int n;
  private final int[] mirrored;
  private final double[] cosine;
  private final double[] sine;
  private final double[] line;

  Fft(int n) {
    if (Integer.bitCount(n) != 1 || n < 2) {
      throw new IllegalArgumentException("a power of two is wanted, not " + n);
    }
    this.n = n;
    mirrored = new int[n];
    int bits = Integer.numberOfTrailingZeros(n);
    for (int i = 0; i < n; i++) {
      mirrored[i] = Integer.reverse(i) >>> (32 - bits);
    }
    cosine = new double[n / 2];
    sine = new double[n / 2];
    for (int i = 0; i < n / 2; i++) {
      cosine[i] = Math.cos(2 * Math.PI * i / n);
      sine[i] = Math.sin(2 * Math.PI * i / n);
    }
    line = new double[2 * n];
  }

  /**
   * Transforms lines.
   *
   * @param data where they are
   * @param first number of the first element of the first line
   * @param stride from an element of a line to the next
   * @param lines how many
   * @param step from a line to the next
   * @param sign of the exponent, 1 or -1
   */
  void transform(double[] data, int first, int stride, int lines, int step, int sign) {
    for (int i = 0; i < lines; i++) {
      transform(data, first + i * step, stride, sign);
    }
  }

  private void transform(double[] data, int first, int stride, int sign) {
    for (int i = 0; i < n; i++) {
      int from = 2 * (first + mirrored[i] * stride);
      line[2 * i] = data[from];
      line[2 * i + 1] = data[from + 1];
    }
    for (int half = 1; half < n; half *= 2) {
      stage(half, sign);
    }
    for (int i = 0; i < n; i++) {
      int to = 2 * (first + i * stride);
      data[to] = line[2 * i];
      data[to + 1] = line[2 * i + 1];
    }
  }

  /** Joins neighbouring transforms of a length to one of twice that. */
  private void stage(int half, int sign) {
    int turn = n / 2 / half;
    for (int block = 0; block < n; block += 2 * half) {
      for (int k = 0; k < half; k++) {
        double c = cosine[k * turn];
        double s = sign * sine[k * turn];
        int a = 2 * (block + k);
        int b = a + 2 * half;
        double re = c * line[b] - s * line[b + 1];
        double im = c * line[b + 1] + s * line[b];
        line[b] = line[a] - re;
        line[b + 1] = line[a + 1] - im;
        line[a] += re;
        line[a + 1] += im;
      }
    }
  }
}
