// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The ports of this host, InfiniBand, RoCE and Ethernet, and what they count, by {@code /sys}.
 *
 * <p>{@link io.talaria.monitor.LocalPorts} finds them and reads their counters, {@link
 * io.talaria.monitor.RateTracker} makes rates of the readings, {@link
 * io.talaria.monitor.PrometheusText} writes them down. This package needs Java 17; {@code
 * io.talaria.monitor.fabric}, which asks remote ports, needs the Foreign Function and Memory API
 * and is compiled for Java 25. On Java 17 the jar is for the class path.
 */
package io.talaria.monitor;
