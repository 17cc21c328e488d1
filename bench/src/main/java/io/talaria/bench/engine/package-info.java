// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * How a run goes: one coordinator, and JVMs that measure and are kept in step.
 *
 * <pre>
 *   coordinator ── pipes ─────────────────────────── measuring JVM (client)
 *        │                                                  │ the connections measured
 *        └── control connection ── station ── pipes ── measuring JVM (server)
 * </pre>
 *
 * <p>The station is a thread of the coordinator's own process when all runs on one machine, else
 * {@code talaria observe --listen} on the other. All-to-all has several JVMs on each side, and a
 * control connection for each on the station's. The measuring JVMs go through the phases
 * initialize, connect, prepare, warm up, operate and clean up, each begun by an order and ended by
 * an event; the coordinator gives no order before both have ended the phase before.
 */
package io.talaria.bench.engine;
