// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import java.util.List;
import java.util.Map;

/**
 * One measure of a result, as it is written to files.
 *
 * @param id its name for machines
 * @param label its name to be displayed
 * @param unit the unit of its figures
 * @param jdk on the JDK's sockets, or null
 * @param talaria on Talaria, or null
 * @param ratio how many times better Talaria's median is than the JDK's, or null
 * @param ucx what ucx_perftest measured, or null
 * @param timesUcx Talaria's figure as a multiple of ucx_perftest's, the median of the iterations,
 *     or null
 * @param target what Talaria must reach, or null if nothing is asked
 * @param iterations the figures of the iterations, the first one's first; null is for an iteration
 *     that has none
 */
public record Measure(
    String id,
    String label,
    String unit,
    Spread jdk,
    Spread talaria,
    Double ratio,
    Spread ucx,
    Double timesUcx,
    Target target,
    Map<Implementation, List<Double>> iterations) {}
