// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;

/**
 * What one iteration has found, as it is written to files: all that its measures do not say.
 *
 * @param id the name for machines of what was measured
 * @param implementation the implementation that was measured
 * @param rested whether compilers rested when measuring began
 * @param found a record of the benchmark
 */
public record Run(String id, Implementation implementation, boolean rested, Object found) {}
