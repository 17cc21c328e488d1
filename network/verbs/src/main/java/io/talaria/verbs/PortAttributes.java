// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * What a port is and does now ({@code ibv_query_port}).
 *
 * @param state where it is on its way to carry data
 * @param maxMtuBytes the longest packet it can send
 * @param activeMtuBytes the longest packet it sends now
 * @param gidEntries the length of its table of identifiers
 * @param partitionKeys the length of its table of partition keys
 * @param maxMessageBytes the longest message
 * @param lid its local identifier; 0 on Ethernet, and on InfiniBand without a subnet manager
 * @param subnetManagerLid that of the subnet manager
 * @param linkLayer what it is plugged into
 * @param routed whether every packet needs a global route ({@code IBV_QPF_GRH_REQUIRED})
 */
public record PortAttributes(
    State state,
    int maxMtuBytes,
    int activeMtuBytes,
    int gidEntries,
    int partitionKeys,
    long maxMessageBytes,
    int lid,
    int subnetManagerLid,
    LinkLayer linkLayer,
    boolean routed) {
  /** Where a port is on its way to carry data. */
  public enum State {
    /** Not said. */
    NONE,
    /** No link. */
    DOWN,
    /** A link, not configured: on InfiniBand it waits for a subnet manager. */
    INIT,
    /** Configured, not active. */
    ARMED,
    /** Carries data. */
    ACTIVE,
    /** Active, but the link was lost for a moment. */
    ACTIVE_DEFER;

    static State of(int value) {
      return Bits.constant(values(), value, NONE);
    }
  }

  /** What a port is plugged into. */
  public enum LinkLayer {
    /** Not said. */
    UNSPECIFIED,
    /** InfiniBand: addresses are LIDs. */
    INFINIBAND,
    /** Ethernet, RoCE or iWARP: addresses are GIDs. */
    ETHERNET;

    static LinkLayer of(int value) {
      return Bits.constant(values(), value, UNSPECIFIED);
    }
  }

  /** Bytes of an {@code ibv_mtu}. */
  static int mtuBytes(int code) {
    return code >= 1 && code <= 5 ? 128 << code : 0;
  }

  /** The {@code ibv_mtu} of a number of bytes. */
  static int mtuCode(int bytes) {
    for (int code = 1; code <= 5; code++) {
      if (128 << code == bytes) {
        return code;
      }
    }
    throw new IllegalArgumentException(
        "an MTU of " + bytes + " bytes, but there are 256, 512, 1024, 2048 and 4096");
  }
}
