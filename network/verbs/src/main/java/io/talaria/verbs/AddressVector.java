// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.VerbsStructs.AhAttr;
import io.talaria.verbs.binding.VerbsStructs.GlobalRoute;

/**
 * How packets get to a port ({@code ibv_ah_attr}). Immutable.
 *
 * @param port of this host that they leave by, from 1
 * @param lid the local identifier of the destination; 0 on Ethernet
 * @param gid the global identifier of the destination; {@link Gid#NONE}: no global route
 * @param gidIndex of this host's own identifier in the table of the port
 * @param serviceLevel from 0 to 15
 * @param trafficClass from 0 to 255
 * @param hopLimit from 0 to 255
 */
public record AddressVector(
    int port, int lid, Gid gid, int gidIndex, int serviceLevel, int trafficClass, int hopLimit) {
  private static final int HOPS = 64;

  /** Checks the ranges. */
  public AddressVector {
    Bits.inRange(port, 1, 255, "the port");
    Bits.inRange(lid, 0, 0xffff, "the LID");
    Bits.inRange(gidIndex, 0, 255, "the index of the GID");
    Bits.inRange(serviceLevel, 0, 15, "the service level");
    Bits.inRange(trafficClass, 0, 255, "the traffic class");
    Bits.inRange(hopLimit, 0, 255, "the hop limit");
    if (lid == 0 && gid.equals(Gid.NONE)) {
      throw new IllegalArgumentException(
          "neither a LID nor a GID: the port has no subnet manager, or no address");
    }
  }

  /**
   * The way to a port with a global identifier, as on RoCE.
   *
   * @param port of this host, from 1
   * @param gidIndex of this host's own identifier
   * @param lid the local identifier of the destination; 0 on Ethernet
   * @param gid the global identifier of the destination
   * @return the way
   */
  public static AddressVector global(int port, int gidIndex, int lid, Gid gid) {
    return new AddressVector(port, lid, gid, gidIndex, 0, 0, HOPS);
  }

  /**
   * The way to a port of the same InfiniBand subnet.
   *
   * @param port of this host, from 1
   * @param lid the local identifier of the destination
   * @return the way
   */
  public static AddressVector local(int port, int lid) {
    return new AddressVector(port, lid, Gid.NONE, 0, 0, 0, 0);
  }

  void store(long at) {
    boolean global = !gid.equals(Gid.NONE);
    if (global) {
      gid.store(at + AhAttr.GRH + GlobalRoute.DGID);
      Raw.MEMORY.set(JAVA_BYTE, at + AhAttr.GRH + GlobalRoute.SGID_INDEX, (byte) gidIndex);
      Raw.MEMORY.set(JAVA_BYTE, at + AhAttr.GRH + GlobalRoute.HOP_LIMIT, (byte) hopLimit);
      Raw.MEMORY.set(JAVA_BYTE, at + AhAttr.GRH + GlobalRoute.TRAFFIC_CLASS, (byte) trafficClass);
    }
    Raw.MEMORY.set(JAVA_SHORT, at + AhAttr.DLID, (short) lid);
    Raw.MEMORY.set(JAVA_BYTE, at + AhAttr.SL, (byte) serviceLevel);
    Raw.MEMORY.set(JAVA_BYTE, at + AhAttr.IS_GLOBAL, (byte) (global ? 1 : 0));
    Raw.MEMORY.set(JAVA_BYTE, at + AhAttr.PORT_NUM, (byte) port);
  }

  static AddressVector at(long at) {
    boolean global = Raw.byteAt(at + AhAttr.IS_GLOBAL) != 0;
    return new AddressVector(
        Raw.byteAt(at + AhAttr.PORT_NUM) & 0xff,
        Raw.MEMORY.get(JAVA_SHORT, at + AhAttr.DLID) & 0xffff,
        global ? Gid.at(at + AhAttr.GRH + GlobalRoute.DGID) : Gid.NONE,
        Raw.byteAt(at + AhAttr.GRH + GlobalRoute.SGID_INDEX) & 0xff,
        Raw.byteAt(at + AhAttr.SL) & 15,
        Raw.byteAt(at + AhAttr.GRH + GlobalRoute.TRAFFIC_CLASS) & 0xff,
        Raw.byteAt(at + AhAttr.GRH + GlobalRoute.HOP_LIMIT) & 0xff);
  }
}
