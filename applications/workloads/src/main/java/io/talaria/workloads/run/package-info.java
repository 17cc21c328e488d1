// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What several workloads share beyond the engine ({@link io.talaria.bench.compare}): servers that
 * keep data in files, lines of bounded length, and quiet logs.
 */
package io.talaria.workloads.run;
