// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Ledgers of BookKeeper, written to and read from one bookie, on both transports. */
package io.talaria.workloads.bookkeeper;
