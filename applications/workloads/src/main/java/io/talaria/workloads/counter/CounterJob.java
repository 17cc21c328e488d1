// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

/**
 * What the client is told.
 *
 * @param numbers how far to count
 */
record CounterJob(long numbers) {}
