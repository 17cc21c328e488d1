// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Devices on a {@link io.talaria.mpj.device.transport.FrameTransport}: to all ranks, or to those of
 * other hosts, with rings inside a host.
 */
package io.talaria.mpj.device.transport;
