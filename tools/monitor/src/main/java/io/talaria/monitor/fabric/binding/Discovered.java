// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric.binding;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.talaria.ffi.Raw;
import java.util.ArrayList;
import java.util.List;

/** Walks what libibnetdisc has discovered. For use before {@link Mad#destroy}. */
public final class Discovered {
  private static final long NODE_GUID = FabricStructs.NODE.offset("guid");
  private static final long NODE_NEXT = FabricStructs.NODE.offset("next");
  private static final long NODE_SMALID = FabricStructs.NODE.offset("smalid");
  private static final long NODE_TYPE = FabricStructs.NODE.offset("type");
  private static final long NODE_NUMPORTS = FabricStructs.NODE.offset("numports");
  private static final long NODE_DESC = FabricStructs.NODE.offset("nodedesc");
  private static final long NODE_PORTS = FabricStructs.NODE.offset("ports");
  private static final long PORT_NUM = FabricStructs.PORT.offset("portnum");
  private static final long PORT_NODE = FabricStructs.PORT.offset("node");
  private static final long PORT_REMOTE = FabricStructs.PORT.offset("remoteport");
  private static final long PORT_LID = FabricStructs.PORT.offset("base_lid");
  private static final long PORT_INFO = FabricStructs.PORT.offset("info");
  private static final long NODES = FabricStructs.FABRIC.offset("nodes");
  private static final int MAX_PORTS = 255;
  private static final int LID_MASK = 0xffff;

  private Discovered() {}

  /**
   * All nodes.
   *
   * @param fabric what {@link Mad#discover} gave
   * @return addresses of nodes
   */
  public static List<Long> nodes(long fabric) {
    List<Long> nodes = new ArrayList<>();
    for (long node = Raw.longAt(fabric + NODES); node != 0; node = Raw.longAt(node + NODE_NEXT)) {
      nodes.add(node);
    }
    return nodes;
  }

  /**
   * The ports of a node.
   *
   * @param node its address
   * @return addresses of ports, those that were not seen left out
   */
  public static List<Long> ports(long node) {
    List<Long> ports = new ArrayList<>();
    long array = Raw.longAt(node + NODE_PORTS);
    int most = Math.min(Math.max(0, Raw.intAt(node + NODE_NUMPORTS)), MAX_PORTS);
    for (int i = 0; array != 0 && i <= most; i++) {
      long port = Raw.longAt(array + (long) i * Long.BYTES);
      if (port != 0) {
        ports.add(port);
      }
    }
    return ports;
  }

  /**
   * The GUID of a node.
   *
   * @param node its address
   * @return 64 bits
   */
  public static long guid(long node) {
    return Raw.longAt(node + NODE_GUID);
  }

  /**
   * The type of a node.
   *
   * @param node its address
   * @return one of {@link FabricConstants}
   */
  public static int type(long node) {
    return Raw.intAt(node + NODE_TYPE);
  }

  /**
   * What a node says of itself, which may be anything.
   *
   * @param node its address
   * @return its bytes
   */
  public static byte[] description(long node) {
    byte[] bytes = new byte[FabricStructs.SMP_BYTES];
    Raw.copy(node + NODE_DESC, bytes, 0, bytes.length);
    return bytes;
  }

  /**
   * The LID of a switch.
   *
   * @param node its address
   * @return the LID, 0 if it has none
   */
  public static int switchLid(long node) {
    return Raw.MEMORY.get(JAVA_SHORT_UNALIGNED, node + NODE_SMALID) & LID_MASK;
  }

  /**
   * The number of a port.
   *
   * @param port its address
   * @return from 0
   */
  public static int number(long port) {
    return Raw.intAt(port + PORT_NUM);
  }

  /**
   * The LID of a port.
   *
   * @param port its address
   * @return the LID, 0 if it has none
   */
  public static int lid(long port) {
    return Raw.MEMORY.get(JAVA_SHORT_UNALIGNED, port + PORT_LID) & LID_MASK;
  }

  /**
   * The node of a port.
   *
   * @param port its address
   * @return an address
   */
  public static long node(long port) {
    return Raw.longAt(port + PORT_NODE);
  }

  /**
   * The port at the other end of the link.
   *
   * @param port its address
   * @return an address, 0 if there is none
   */
  public static long peer(long port) {
    return Raw.longAt(port + PORT_REMOTE);
  }

  /**
   * Where the PortInfo of a port is.
   *
   * @param port its address
   * @return an address for {@link Mad#field}
   */
  public static long info(long port) {
    return port + PORT_INFO;
  }
}
