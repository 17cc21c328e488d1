// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/** The official checksums of {@link Ft}: real and imaginary part of each step. */
final class FtSums {
  private static final double[] S = {
    554.6087004964, 484.5363331978,
    554.6385409189, 486.5304269511,
    554.6148406171, 488.3910722336,
    554.5423607415, 490.1273169046,
    554.4255039624, 491.7475857993,
    554.2683411902, 493.2597244941,
  };
  private static final double[] W = {
    567.3612178944, 529.3246849175,
    563.1436885271, 528.2149986629,
    559.4024089970, 527.0996558037,
    556.0698047020, 526.0027904925,
    553.0898991250, 524.9400845633,
    550.4159734538, 523.9212247086,
  };
  private static final double[] A = {
    504.6735008193, 511.4047905510,
    505.9412319734, 509.8809666433,
    506.9376896287, 509.8144042213,
    507.7892868474, 510.1336130759,
    508.5233095391, 510.4914655194,
    509.1487099959, 510.7917842803,
  };

  private FtSums() {}

  static double[] of(char problem) {
    return problem == 'S' ? S : problem == 'W' ? W : A;
  }
}
