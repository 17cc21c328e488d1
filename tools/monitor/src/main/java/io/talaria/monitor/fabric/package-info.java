// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The ports of an InfiniBand fabric, by discovery and performance queries: libibnetdisc, libibmad
 * and libibumad. A capability, that is there or not: {@link io.talaria.monitor.fabric.Fabric#open}
 * says what is missing and what to do about it.
 *
 * <p>Needs native access enabled for this module, or for the class path.
 */
package io.talaria.monitor.fabric;
