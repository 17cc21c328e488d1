// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What a process knows of its connections, kept where other programs can read it.
 *
 * <p>This is the writing side: {@link io.talaria.nio.counters.ProcessCounters} has all counters of
 * the process. {@code counters.file} knows the file between the two sides, {@code counters.reader}
 * reads it.
 */
package io.talaria.nio.counters;
