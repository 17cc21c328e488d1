// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.WarmUpLength;
import java.util.List;

/**
 * What a client is told.
 *
 * @param sizes the sizes of the entries, in bytes
 * @param entries how many of each size
 * @param outstanding how many may be under way at a time
 * @param warmUp how long to do the same without measuring first
 */
record LedgerJob(List<Integer> sizes, int entries, int outstanding, WarmUpLength warmUp) {}
