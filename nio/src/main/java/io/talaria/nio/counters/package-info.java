// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What a process knows of its connections, kept where other programs can read it.
 *
 * <p>{@link io.talaria.nio.counters.ProcessCounters} is the writing side, {@link
 * io.talaria.nio.counters.CountersReader} the reading side, and {@link
 * io.talaria.nio.counters.CountersLayout} the one place that knows the file between them.
 */
package io.talaria.nio.counters;
