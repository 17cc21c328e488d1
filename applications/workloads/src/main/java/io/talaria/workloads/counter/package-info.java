// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The example {@code counter}: two programs that count up to each other over one blocking channel,
 * both ways at once.
 *
 * <p>All that goes over the connection are big-endian numbers of 64 bits:
 *
 * <pre>
 * client                       server
 *    │ ── MAGIC ───────────────► │
 *    │ ── 0 ───────────────────► │   any number of times, until the
 *    │ ◄─────────────────── 0 ── │   connection has taken its transport
 *    │ ── n ───────────────────► │   how far to count
 *    │ ── 1, 2, 3, … n ────────► │   at once, each way with
 *    │ ◄──── 1, 2, 3, … n ────── │   a thread of its own
 *    │ ◄─────────────────── v ── │   n if all were in order, else minus the first wrong one
 * </pre>
 */
package io.talaria.workloads.counter;
