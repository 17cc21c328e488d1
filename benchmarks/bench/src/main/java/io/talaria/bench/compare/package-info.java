// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The engine: what is compared is measured in iterations, by each implementation in turn, and shown
 * in one form.
 *
 * <p>The command itself never opens a connection. It starts a child JVM for each side, switches
 * Talaria on in it or not ({@link io.talaria.bench.compare.Launch}), gives it a {@link
 * io.talaria.bench.compare.Task}, and waits for what it reports ({@link
 * io.talaria.bench.compare.Orders}). A child's main method is one call of {@link
 * io.talaria.bench.compare.Peer#serve}. Children end with their parent, however that ends.
 *
 * <p>A plan is a list of {@link io.talaria.bench.compare.BenchmarkCase cases}, measured by {@link
 * io.talaria.bench.compare.Iterations} into a {@link io.talaria.bench.compare.Comparison}. A
 * benchmark of an application is a {@link io.talaria.bench.compare.Benchmark}, run by {@link
 * io.talaria.bench.compare.IterationOptions#compare}; one that needs no more than a server, a
 * client and some time for each case is a list of {@link io.talaria.bench.compare.Trial trials},
 * run by {@link io.talaria.bench.compare.BenchOptions#run}. docs/bench.md says how to add one.
 */
package io.talaria.bench.compare;
