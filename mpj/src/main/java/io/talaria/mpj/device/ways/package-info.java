// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Devices made of {@link io.talaria.mpj.device.ways.Ways}, whatever carries their frames: one way
 * to all ranks, or rings inside a host and one way between hosts.
 */
package io.talaria.mpj.device.ways;
