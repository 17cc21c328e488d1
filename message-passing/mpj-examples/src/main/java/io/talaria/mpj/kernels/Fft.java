// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/**
 * Fourier transforms of one length, a power of two, without a factor in front, of lines of complex
 * numbers in an array: real part, imaginary part. For one thread.
 *
 * <p>Transforms many lines at once: the numbers of the same place in each lie side by side, so that
 * the innermost loop does the same for all of them and becomes vector instructions.
 */
final class Fft {
  /** So many lines at once: all their numbers stay in a core's own cache. */
  private static final int BATCH = 64;

  /** So many neighbours are in a line of the cache. */
  private static final int NEIGHBOURS = 4;

  private final int n;
  private final int[] mirrored;
  private final double[] cosine;
  private final double[] sine;

  /** By the place in the line, and then by line. */
  private final double[][] real;

  private final double[][] imaginary;

  Fft(int n) {
    if (Integer.bitCount(n) != 1 || n < NEIGHBOURS) {
      throw new IllegalArgumentException(
          "a power of two is wanted, " + NEIGHBOURS + " or more, not " + n);
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
    real = new double[n][BATCH];
    imaginary = new double[n][BATCH];
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
    for (int done = 0; done < lines; done += BATCH) {
      int count = Math.min(BATCH, lines - done);
      int from = first + done * step;
      for (int i = 0; i < n; i += NEIGHBOURS) {
        take(data, from, i, stride, count, step);
      }
      for (int half = 1; half < n; half *= 2) {
        stage(half, sign, count);
      }
      for (int i = 0; i < n; i += NEIGHBOURS) {
        give(data, from, i, stride, count, step);
      }
    }
  }

  /** Takes four neighbouring numbers of each line. */
  private void take(double[] data, int first, int i, int stride, int count, int step) {
    double[] re0 = real[mirrored[i]];
    double[] im0 = imaginary[mirrored[i]];
    double[] re1 = real[mirrored[i + 1]];
    double[] im1 = imaginary[mirrored[i + 1]];
    double[] re2 = real[mirrored[i + 2]];
    double[] im2 = imaginary[mirrored[i + 2]];
    double[] re3 = real[mirrored[i + 3]];
    double[] im3 = imaginary[mirrored[i + 3]];
    int at = 2 * (first + i * stride);
    for (int line = 0; line < count; line++) {
      re0[line] = data[at];
      im0[line] = data[at + 1];
      re1[line] = data[at + 2 * stride];
      im1[line] = data[at + 2 * stride + 1];
      re2[line] = data[at + 4 * stride];
      im2[line] = data[at + 4 * stride + 1];
      re3[line] = data[at + 6 * stride];
      im3[line] = data[at + 6 * stride + 1];
      at += 2 * step;
    }
  }

  private void give(double[] data, int first, int i, int stride, int count, int step) {
    double[] re0 = real[i];
    double[] im0 = imaginary[i];
    double[] re1 = real[i + 1];
    double[] im1 = imaginary[i + 1];
    double[] re2 = real[i + 2];
    double[] im2 = imaginary[i + 2];
    double[] re3 = real[i + 3];
    double[] im3 = imaginary[i + 3];
    int at = 2 * (first + i * stride);
    for (int line = 0; line < count; line++) {
      data[at] = re0[line];
      data[at + 1] = im0[line];
      data[at + 2 * stride] = re1[line];
      data[at + 2 * stride + 1] = im1[line];
      data[at + 4 * stride] = re2[line];
      data[at + 4 * stride + 1] = im2[line];
      data[at + 6 * stride] = re3[line];
      data[at + 6 * stride + 1] = im3[line];
      at += 2 * step;
    }
  }

  /** Joins neighbouring transforms of a length to one of twice that. */
  private void stage(int half, int sign, int count) {
    int turn = n / 2 / half;
    for (int block = 0; block < n; block += 2 * half) {
      for (int k = 0; k < half; k++) {
        int a = block + k;
        int b = a + half;
        join(
            real[a],
            imaginary[a],
            real[b],
            imaginary[b],
            cosine[k * turn],
            sign * sine[k * turn],
            count);
      }
    }
  }

  private static void join(
      double[] reA, double[] imA, double[] reB, double[] imB, double c, double s, int count) {
    for (int i = 0; i < count; i++) {
      double re = c * reB[i] - s * imB[i];
      double im = c * imB[i] + s * reB[i];
      reB[i] = reA[i] - re;
      imB[i] = imA[i] - im;
      reA[i] += re;
      imA[i] += im;
    }
  }
}
