// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * JVMs of one machine or two that measure a {@link io.talaria.bench.link.Link} and are kept in
 * step; {@code bench ucx} and {@code observe} are plans over it.
 *
 * <pre>
 *   command ── pipes ─────────────────────────── measuring JVM (client)
 *      │                                                │ the connections measured
 *      ├── pipes ─────────────────────────────── measuring JVM (server), on one machine
 *      └── control connection ── benchmark server ── pipes ── measuring JVM (server), on two
 * </pre>
 *
 * <p>The {@link io.talaria.bench.engine.BenchmarkServer} is the same command with {@code --listen}
 * on the other machine; it hands on what it is told. All-to-all has several JVMs on each side, and
 * a control connection for each on the benchmark server's. The measuring JVMs go through the {@link
 * io.talaria.bench.engine.Phases phases} initialize, connect, prepare, warm up, operate and clean
 * up, each begun by an order and ended by an event; no order is given before both have ended the
 * phase before.
 */
package io.talaria.bench.engine;
