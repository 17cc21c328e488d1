// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.Port;
import io.talaria.monitor.PortId;

/**
 * A port of the fabric.
 *
 * @param port the port; its LID is the one that its counters are queried by, a switch's for all of
 *     its ports
 * @param peer the port at the other end of the link, or null
 */
public record FabricPort(Port port, PortId peer) {}
