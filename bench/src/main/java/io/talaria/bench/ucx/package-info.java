// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code talaria bench ucx}: UCX from Java beside {@code ucx_perftest}, operation by
 * operation and size by size.
 *
 * <p>Three processes measure: the <em>server</em> follows what a client asks for ({@link
 * io.talaria.bench.ucx.FollowServer}); the <em>client</em> gives each case to JMH, which forks a
 * JVM for it ({@link io.talaria.bench.ucx.UcxBenchmark}); the parent orders, runs {@code
 * ucx_perftest} in between, and reports. Client and server talk by a control connection ({@link
 * io.talaria.bench.ucx.ControlLink}), one for each measuring thread, and measure over UCX only.
 */
package io.talaria.bench.ucx;
