// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Machine;
import java.util.List;
import java.util.Map;

/**
 * All that a benchmark has found: the one form in which files have it.
 *
 * @param format the name of the format
 * @param environment the conditions
 * @param options what was asked for
 * @param targetsMissed how many targets were missed
 * @param measures the measures, over all iterations
 * @param times what was timed, iteration by iteration
 * @param runs what else the iterations have found
 * @param missing which figures there are not, though they should be, and why
 */
public record Result(
    String format,
    Machine environment,
    Map<String, Object> options,
    long targetsMissed,
    List<Measure> measures,
    List<Distribution> times,
    List<Run> runs,
    List<Comparison.Missing> missing) {}
