// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * How a workload is run: the options that all share, the JVMs it runs in, and how the results of
 * both roads are shown.
 *
 * <p>The command itself never opens a connection. It starts a child JVM for each side, switches
 * Talaria on in it or not ({@link io.talaria.workloads.run.Launch}), gives it a {@link
 * io.talaria.workloads.run.Task}, and waits for what it reports ({@link
 * io.talaria.workloads.run.Orders}). A child's main method is one call of {@link
 * io.talaria.workloads.run.Peer#serve}. Children end with their parent, however that ends.
 *
 * <p>A {@link io.talaria.workloads.run.Benchmark} is a list of {@link io.talaria.workloads.run.Bout
 * bouts}, run by {@link io.talaria.workloads.run.RoundOptions#compare} in rounds on both roads in
 * turn and shown by {@link io.talaria.workloads.run.Comparison}. One that needs no more than a
 * server, a client and some time for each case is a list of {@link io.talaria.workloads.run.Trial
 * trials}, run by {@link io.talaria.workloads.run.BenchOptions#run}.
 *
 * <p>To add a workload: a command with {@link io.talaria.workloads.run.RoadOptions} and {@link
 * io.talaria.workloads.run.SideOptions} as mixins, a main class that calls {@code Peer.serve}, and
 * records for the job and for the result.
 */
package io.talaria.workloads.run;
