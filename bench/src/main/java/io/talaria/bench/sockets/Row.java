// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;

/**
 * One measure of the summary.
 *
 * @param id its name for machines
 * @param label its name for people
 * @param quantity what kind of figure it is
 * @param jdk on the JDK's sockets, or null
 * @param talaria on Talaria, or null
 * @param ucx what ucx_perftest measured, or null
 * @param target what Talaria must reach, or null if nothing is asked
 */
record Row(
    String id,
    String label,
    Quantity quantity,
    Spread jdk,
    Spread talaria,
    Spread ucx,
    Target target) {

  /** Returns Talaria's median as a multiple of ucx_perftest's, or NaN. */
  double timesUcx() {
    return ucx == null || talaria == null || ucx.median() <= 0
        ? Double.NaN
        : talaria.median() / ucx.median();
  }

  /** Returns how many times better Talaria's median is than the JDK's, or NaN. */
  double ratio() {
    return jdk == null || talaria == null || jdk.median() <= 0 || talaria.median() <= 0
        ? Double.NaN
        : quantity.ratio(jdk.median(), talaria.median());
  }
}
