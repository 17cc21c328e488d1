// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.MissingSymbolException;
import io.talaria.monitor.Counter;
import io.talaria.monitor.Harmless;
import io.talaria.monitor.LinkLayer;
import io.talaria.monitor.LinkRate;
import io.talaria.monitor.LocalPorts;
import io.talaria.monitor.Port;
import io.talaria.monitor.PortId;
import io.talaria.monitor.PortState;
import io.talaria.monitor.Reading;
import io.talaria.monitor.fabric.binding.Discovered;
import io.talaria.monitor.fabric.binding.FabricConstants;
import io.talaria.monitor.fabric.binding.FabricStructs;
import io.talaria.monitor.fabric.binding.Mad;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An InfiniBand fabric, seen from a port of this host: who is in it, and what the ports count.
 *
 * <p>Any thread may call; because libibmad keeps global state, all calls of all objects wait for
 * each other, and each may block for as long as the options say. {@link FabricMonitor} has a thread
 * for them. The caller that opened it closes it; a closed one throws {@link IllegalStateException}.
 *
 * <p>Nothing is changed in the fabric, but by {@link #reset}.
 */
public final class Fabric implements AutoCloseable {
  private static final Object LIBIBMAD = new Object();
  private static final int EIO = 5;
  private static final int EACCES = 13;
  private static final int EPERM = 1;
  private static final int HAS_EXTENDED_SPEEDS = 1 << 14;
  private static final int ALL_COUNTERS = 0xffff;
  private static final int WAIT_COUNTER = 1 << 16;

  /** IBTA's PortPhysicalState, from 1 on, in the kernel's words. */
  private static final String[] PHYSICAL = {
    "",
    "Sleep",
    "Polling",
    "Disabled",
    "PortConfigurationTraining",
    "LinkUp",
    "LinkErrorRecovery",
    "Phy Test"
  };

  private final Mad mad;
  private final FabricOptions options;

  /** What each LID can do; guarded by LIBIBMAD. */
  private final Map<Integer, RemoteCounters> capabilities = new HashMap<>();

  /** The open port, 0 when closed; guarded by LIBIBMAD. */
  private long handle;

  private Fabric(Mad mad, FabricOptions options, long handle) {
    this.mad = mad;
    this.options = options;
    this.handle = handle;
  }

  /**
   * Opens a port of this host to query from.
   *
   * @param options which, and how
   * @return the fabric
   * @throws FabricException if a library, a device or a permission is missing, with the hint
   */
  public static Fabric open(FabricOptions options) throws FabricException {
    synchronized (LIBIBMAD) {
      Mad mad;
      try {
        mad = new Mad();
      } catch (MissingLibraryException e) {
        throw new FabricException(e.getMessage(), e);
      }
      try {
        mad.silence();
        List<String> adapters = mad.adapters();
        if (!options.device().isEmpty() && !adapters.contains(options.device())) {
          throw new FabricException(
              "there is no adapter " + options.device() + "; there are: " + names(adapters), null);
        }
        long handle = mad.openPort(options.device(), options.port());
        if (handle < 0) {
          throw cannotOpen(options, (int) -handle);
        }
        mad.patience(handle, options.timeoutMs(), options.tries());
        return new Fabric(mad, options, handle);
      } catch (MissingSymbolException e) {
        throw new FabricException(
            e.getMessage()
                + ". Install libibumad, libibmad and libibnetdisc of rdma-core 28 or"
                + " newer.",
            e);
      }
    }
  }

  private static String names(List<String> adapters) {
    return String.join(", ", adapters.stream().map(Harmless::text).toList());
  }

  private static FabricException cannotOpen(FabricOptions options, int errno) {
    String which =
        options.device().isEmpty()
            ? "no active port can be opened"
            : "port " + options.port() + " of " + options.device() + " cannot be opened";
    String why = " (" + Libc.errorText(errno) + ")";
    if (errno == EACCES || errno == EPERM) {
      return new FabricException(
          which
              + why
              + ": this user may not use /dev/infiniband/umad*. Run as root, or give the user's"
              + " group access to them.",
          null);
    }
    List<Port> ports = rdmaPorts();
    if (ports.isEmpty()) {
      return new FabricException(
          "no InfiniBand adapter is here"
              + why
              + ": ports of other nodes can be queried on a host with one, with the module ib_umad"
              + " loaded.",
          null);
    }
    if (ports.stream().noneMatch(port -> port.layer() == LinkLayer.INFINIBAND)) {
      return new FabricException(
          which
              + why
              + ": this host has RoCE ports only, and subnet messages are InfiniBand's. Its own"
              + " counters are shown without --fabric.",
          null);
    }
    return new FabricException(
        which
            + why
            + ": load the module ib_umad (modprobe ib_umad), look whether /dev/infiniband/umad* is"
            + " here, and whether a port is up.",
        null);
  }

  private static List<Port> rdmaPorts() {
    try (LocalPorts ports = LocalPorts.open()) {
      return ports.scan().stream().filter(port -> port.layer() != LinkLayer.ETHERNET).toList();
    }
  }

  private long opened() {
    if (handle == 0) {
      throw new IllegalStateException("the fabric is closed");
    }
    return handle;
  }

  /**
   * Looks who is in the fabric, by directed routes: that needs no subnet manager. Takes some
   * milliseconds for some nodes, seconds for thousands.
   *
   * @return what was found
   * @throws FabricException if nothing could be queried
   */
  public Topology discover() throws FabricException {
    synchronized (LIBIBMAD) {
      long ignored = opened();
      long startNs = System.nanoTime();
      long fabric =
          mad.discover(
              options.device(),
              options.port(),
              options.maxHops(),
              options.timeoutMs(),
              options.tries());
      if (fabric < 0) {
        throw new FabricException(
            "the fabric cannot be discovered ("
                + Libc.errorText((int) -fabric)
                + "): look whether the port is up and this user may send subnet messages.",
            null);
      }
      try {
        capabilities.clear(); // LIDs may belong to others now
        List<FabricNode> nodes = new ArrayList<>();
        for (long node : Discovered.nodes(fabric)) {
          nodes.add(node(node));
        }
        nodes.sort(
            Comparator.comparing((FabricNode node) -> node.type() != NodeType.SWITCH)
                .thenComparing(node -> PortId.local(node.description(), 0))
                .thenComparing(FabricNode::guid));
        return new Topology(nodes, System.nanoTime() - startNs);
      } finally {
        mad.destroy(fabric);
      }
    }
  }

  private FabricNode node(long node) {
    NodeType type = NodeType.ofNumber(Discovered.type(node));
    List<Long> addresses = Discovered.ports(node);
    int capabilityMask = 0;
    if (type == NodeType.SWITCH && !addresses.isEmpty()) {
      // What a switch can do stands at its port 0.
      capabilityMask =
          mad.field(Discovered.info(addresses.get(0)), FabricConstants.IB_PORT_CAPMASK_F);
    }
    List<FabricPort> ports = new ArrayList<>();
    for (long port : addresses) {
      ports.add(port(node, type, port, capabilityMask));
    }
    return new FabricNode(guid(node), type, name(node), ports);
  }

  private FabricPort port(long node, NodeType type, long port, int switchMask) {
    long info = Discovered.info(port);
    int mask =
        type == NodeType.SWITCH ? switchMask : mad.field(info, FabricConstants.IB_PORT_CAPMASK_F);
    int physical = mad.field(info, FabricConstants.IB_PORT_PHYS_STATE_F);
    boolean itself = type == NodeType.SWITCH && Discovered.number(port) == 0;
    LinkRate rate =
        itself
            ? LinkRate.UNKNOWN // the switch's own port has no link
            : LinkSpeed.of(
                mad.field(info, FabricConstants.IB_PORT_LINK_WIDTH_ACTIVE_F),
                mad.field(info, FabricConstants.IB_PORT_LINK_SPEED_ACTIVE_F),
                (mask & HAS_EXTENDED_SPEEDS) == 0
                    ? 0
                    : mad.field(info, FabricConstants.IB_PORT_LINK_SPEED_EXT_ACTIVE_F));
    long peer = Discovered.peer(port);
    return new FabricPort(
        new Port(
            id(node, port),
            LinkLayer.INFINIBAND,
            PortState.ofNumber(mad.field(info, FabricConstants.IB_PORT_STATE_F)),
            physical > 0 && physical < PHYSICAL.length ? PHYSICAL[physical] : "",
            type == NodeType.SWITCH ? Discovered.switchLid(node) : Discovered.lid(port),
            rate,
            guid(node),
            "",
            List.of(),
            false),
        peer == 0 ? null : id(Discovered.node(peer), peer));
  }

  private static PortId id(long node, long port) {
    return new PortId(name(node), Discovered.number(port), guid(node));
  }

  private static String guid(long node) {
    return String.format(Locale.ROOT, "%016x", Discovered.guid(node));
  }

  private static String name(long node) {
    String name = Harmless.text(Discovered.description(node));
    return name.isEmpty() ? guid(node) : name;
  }

  /**
   * Queries the counters of a port: those of 64 bits where it has them, for the rest those of 32
   * bits and less. Waits at most the time-out times the tries for each of up to three messages.
   *
   * @param port a port of {@link #discover}
   * @return its counters, or why there are none
   */
  public QueryResult query(FabricPort port) {
    synchronized (LIBIBMAD) {
      long open = opened();
      int lid = port.port().lid();
      if (lid == 0) {
        return QueryResult.without(QueryResult.Status.NO_LID);
      }
      int number = port.port().id().number();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment response = arena.allocate(FabricStructs.MAD_BYTES, Long.BYTES);
        RemoteCounters known = capabilities.get(lid);
        if (known == null) {
          int status =
              mad.query(
                  open,
                  response,
                  lid,
                  number,
                  FabricConstants.CLASS_PORT_INFO,
                  options.timeoutMs());
          if (status != 0) {
            return failed(status);
          }
          known =
              RemoteCounters.of(mad.field(response.address(), FabricConstants.IB_CPI_CAPMASK_F));
          capabilities.put(lid, known);
        }
        return read(open, response, known, port.port());
      }
    }
  }

  private QueryResult read(long open, MemorySegment response, RemoteCounters known, Port port) {
    List<Counter> counters = known.counters();
    long[] values = new long[counters.size()];
    boolean[] read = new boolean[counters.size()];
    long[] atNs = new long[counters.size()];
    int number = port.id().number();
    if (known.extended() > 0) {
      int status =
          mad.query(
              open,
              response,
              port.lid(),
              number,
              FabricConstants.IB_GSI_PORT_COUNTERS_EXT,
              options.timeoutMs());
      if (status != 0) {
        return failed(status);
      }
      Arrays.fill(atNs, 0, known.extended(), System.nanoTime());
      for (int i = 0; i < known.extended(); i++) {
        values[i] = mad.field64(response.address(), known.field(i));
        read[i] = true;
      }
    }
    int status =
        mad.query(
            open,
            response,
            port.lid(),
            number,
            FabricConstants.IB_GSI_PORT_COUNTERS,
            options.timeoutMs());
    if (status != 0) {
      return failed(status);
    }
    Arrays.fill(atNs, known.extended(), counters.size(), System.nanoTime());
    for (int i = known.extended(); i < counters.size(); i++) {
      values[i] = Integer.toUnsignedLong(mad.field(response.address(), known.field(i)));
      read[i] = true;
    }
    return new QueryResult(
        QueryResult.Status.RESPONDED, new Reading(port, counters, values, read, atNs));
  }

  /**
   * libibmad says EIO for a response that is an error. Of the others, which it may have overwritten
   * while it complained on standard error, none is a response.
   */
  private static QueryResult failed(int status) {
    return QueryResult.without(
        status == -EIO ? QueryResult.Status.REFUSED : QueryResult.Status.SILENT);
  }

  /**
   * Resets all counters of a port, for everybody who looks at it.
   *
   * @param port a port of {@link #discover}
   * @return how that went; {@link QueryResult.Status#RESPONDED} if it is done
   */
  public QueryResult.Status reset(FabricPort port) {
    QueryResult before = query(port);
    if (before.status() != QueryResult.Status.RESPONDED) {
      return before.status();
    }
    synchronized (LIBIBMAD) {
      long open = opened();
      int lid = port.port().lid();
      RemoteCounters known = capabilities.getOrDefault(lid, RemoteCounters.PLAIN);
      int mask = ALL_COUNTERS | (known.hasWait() ? WAIT_COUNTER : 0);
      int number = port.port().id().number();
      int status =
          mad.reset(
              open, lid, number, mask, FabricConstants.IB_GSI_PORT_COUNTERS, options.timeoutMs());
      if (status == 0 && known.extended() > 0) {
        status =
            mad.reset(
                open,
                lid,
                number,
                ALL_COUNTERS,
                FabricConstants.IB_GSI_PORT_COUNTERS_EXT,
                options.timeoutMs());
      }
      return status == 0 ? QueryResult.Status.RESPONDED : failed(status).status();
    }
  }

  @Override
  public void close() {
    synchronized (LIBIBMAD) {
      if (handle != 0) {
        mad.closePort(handle);
        handle = 0;
      }
    }
  }
}
