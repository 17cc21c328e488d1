// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * An entry of a port's table of identifiers.
 *
 * @param gid the identifier
 * @param index where in the table
 * @param type what packets it stands for
 * @param interfaceIndex of the network device, 0 if there is none
 */
public record GidEntry(Gid gid, int index, Type type, int interfaceIndex) {
  /** What packets an identifier stands for. */
  public enum Type {
    /** InfiniBand. */
    INFINIBAND,
    /** RoCE version 1: Ethernet frames, not routed. */
    ROCE_V1,
    /** RoCE version 2: UDP packets, routed. */
    ROCE_V2,
    /** The library is too old to tell. */
    UNKNOWN
  }
}
