// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The ports of this host, InfiniBand, RoCE and Ethernet, and what they count, by {@code /sys}.
 *
 * <p>{@link io.talaria.monitor.LocalPorts} finds them and reads their counters, {@link
 * io.talaria.monitor.RateTracker} makes rates of the readings, {@link
 * io.talaria.monitor.PrometheusText} writes them down.
 *
 * <p>Nothing here but {@code io.talaria.monitor.fabric} needs more than Java 17. The module is
 * compiled for 25 as a whole all the same: what uses it, the command line and Observatory, runs on
 * the JDK that builds it, and no user would gain from two levels in one jar.
 */
package io.talaria.monitor;
