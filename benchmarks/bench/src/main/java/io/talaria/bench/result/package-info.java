// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What was measured: rows, their file, histograms, statistics, and the counters of the wire. */
package io.talaria.bench.result;
