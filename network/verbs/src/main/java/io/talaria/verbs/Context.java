// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingSymbolException;
import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs;
import io.talaria.verbs.binding.VerbsStructs.DeviceAttr;
import io.talaria.verbs.binding.VerbsStructs.DeviceAttrEx;
import io.talaria.verbs.binding.VerbsStructs.PortAttr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A device that is open ({@code ibv_context}). Owns protection domains, completion queues and
 * channels, which must be closed first. Usable by any thread.
 *
 * <p>RDMA CM opens devices by itself: its contexts are <em>borrowed</em>, are others than those of
 * {@link Device#open}, and cannot be closed. Objects of two contexts cannot be used with each
 * other; trying it throws {@link IllegalArgumentException} and names both.
 */
public final class Context extends NativeObject {
  private static final Map<Long, Context> BORROWED = new ConcurrentHashMap<>();
  private static final int EAGAIN = 11;
  private static final int EINTR = 4;
  private static final int ENODATA = 61;
  private static final int ENOSYS = 38;
  private static final int EOPNOTSUPP = 95;

  private final String name;
  private final boolean borrowed;
  private final int asyncDescriptor;

  /** By address, those that asynchronous events may name. */
  private final Map<Long, NativeObject> live = new ConcurrentHashMap<>();

  private final QueuePairTable queuePairs = new QueuePairTable();

  private Context(String name, long pointer, boolean borrowed) {
    super("context");
    this.name = name;
    this.borrowed = borrowed;
    asyncDescriptor = Raw.half(pointer + VerbsStructs.Context.ASYNC_FD);
    Libc.nonBlocking(asyncDescriptor);
    opened(pointer);
  }

  static Context open(String name, long device) {
    long pointer = Ibv.openDevice(device);
    if (pointer < 0) {
      throw new VerbsException(
          (int) pointer, "opening the device " + name, Verbs.openingHint((int) pointer));
    }
    return new Context(name, pointer, false);
  }

  /** The one object for a context that RDMA CM has opened. */
  static Context borrow(long pointer) {
    return BORROWED.computeIfAbsent(
        pointer,
        at ->
            new Context(
                Ibv.getDeviceName(Raw.word(at + VerbsStructs.Context.DEVICE)) + " of RDMA CM",
                at,
                true));
  }

  /**
   * The name of the device.
   *
   * @return a name; a borrowed context says so in it
   */
  public String name() {
    return name;
  }

  /**
   * Whether RDMA CM has opened it.
   *
   * @return whether it has; {@link #close} is refused then
   */
  public boolean borrowed() {
    return borrowed;
  }

  /**
   * How many interrupt vectors completion channels can choose from ({@code num_comp_vectors}).
   *
   * @return at least 1
   */
  public int completionVectors() {
    return Math.max(1, Raw.half(pointer() + VerbsStructs.Context.NUM_COMP_VECTORS));
  }

  /**
   * What the device is and can do ({@code ibv_query_device_ex}).
   *
   * @return its attributes
   * @throws VerbsException if the library refuses
   */
  public DeviceAttributes attributes() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = Bits.zeroed(arena, DeviceAttrEx.STRUCT);
      long at = room.address();
      int status = IbvOps.queryDeviceEx(pointer(), at, DeviceAttrEx.SIZE);
      if (status == -EOPNOTSUPP || status == -ENOSYS) {
        room.fill((byte) 0);
        status = Ibv.queryDevice(pointer(), at);
      }
      VerbsException.check(status, "ibv_query_device_ex of " + name);
      int capabilities = Raw.half(at + DeviceAttr.DEVICE_CAP_FLAGS);
      int atomics = Raw.half(at + DeviceAttr.ATOMIC_CAP);
      return new DeviceAttributes(
          room.getString(0),
          Bits.networkLong(Raw.word(at + DeviceAttr.NODE_GUID)),
          Raw.half(at + DeviceAttr.VENDOR_ID),
          Raw.half(at + DeviceAttr.VENDOR_PART_ID),
          Raw.byteAt(at + DeviceAttr.PHYS_PORT_CNT) & 0xff,
          Raw.word(at + DeviceAttr.MAX_MR_SIZE),
          Raw.half(at + DeviceAttr.MAX_QP),
          Raw.half(at + DeviceAttr.MAX_QP_WR),
          Raw.half(at + DeviceAttr.MAX_SGE),
          Raw.half(at + DeviceAttr.MAX_CQ),
          Raw.half(at + DeviceAttr.MAX_CQE),
          Raw.half(at + DeviceAttr.MAX_MR),
          Raw.half(at + DeviceAttr.MAX_QP_RD_ATOM),
          Raw.half(at + DeviceAttr.MAX_QP_INIT_RD_ATOM),
          Bits.constant(DeviceAttributes.Atomics.values(), atomics, DeviceAttributes.Atomics.NONE),
          Raw.half(at + DeviceAttr.MAX_MW),
          Raw.half(at + DeviceAttr.MAX_SRQ),
          Raw.half(at + DeviceAttr.MAX_SRQ_WR),
          Raw.half(at + DeviceAttr.MAX_SRQ_SGE),
          Raw.half(at + DeviceAttr.MAX_AH),
          capabilities,
          (Raw.word(at + DeviceAttrEx.ODP_CAPS_GENERAL_CAPS) & VerbsConstants.IBV_ODP_SUPPORT) != 0,
          Raw.word(at + DeviceAttrEx.HCA_CORE_CLOCK));
    }
  }

  /**
   * What a port is and does now ({@code ibv_query_port}).
   *
   * @param port from 1
   * @return its attributes
   * @throws VerbsException if there is no such port
   */
  public PortAttributes port(int port) {
    Bits.inRange(port, 1, 255, "the port");
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, PortAttr.STRUCT).address();
      VerbsException.check(
          IbvOps.queryPort(pointer(), port, at, PortAttr.SIZE),
          "ibv_query_port of port " + port + " of " + name);
      return new PortAttributes(
          PortAttributes.State.of(Raw.half(at + PortAttr.STATE)),
          PortAttributes.mtuBytes(Raw.half(at + PortAttr.MAX_MTU)),
          PortAttributes.mtuBytes(Raw.half(at + PortAttr.ACTIVE_MTU)),
          Raw.half(at + PortAttr.GID_TBL_LEN),
          Raw.MEMORY.get(JAVA_SHORT, at + PortAttr.PKEY_TBL_LEN) & 0xffff,
          Raw.half(at + PortAttr.MAX_MSG_SZ) & 0xffffffffL,
          Raw.MEMORY.get(JAVA_SHORT, at + PortAttr.LID) & 0xffff,
          Raw.MEMORY.get(JAVA_SHORT, at + PortAttr.SM_LID) & 0xffff,
          PortAttributes.LinkLayer.of(Raw.byteAt(at + PortAttr.LINK_LAYER)),
          (Raw.byteAt(at + PortAttr.FLAGS) & VerbsConstants.IBV_QPF_GRH_REQUIRED) != 0);
    }
  }

  /**
   * An entry of a port's table of identifiers ({@code ibv_query_gid_ex}, or {@code ibv_query_gid}
   * where that is missing).
   *
   * @param port from 1
   * @param index from 0
   * @return the entry; nothing if it is empty
   * @throws VerbsException if there is no such entry
   */
  public Optional<GidEntry> gid(int port, int index) {
    Bits.inRange(port, 1, 255, "the port");
    Bits.inRange(index, 0, 1 << 16, "the index of the GID");
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, VerbsStructs.GidEntry.STRUCT).address();
      GidEntry.Type type = GidEntry.Type.UNKNOWN;
      int status;
      try {
        status = Ibv.queryGidEx(pointer(), port, index, at, 0, VerbsStructs.GidEntry.SIZE);
        if (status == 0) {
          int code = Raw.half(at + VerbsStructs.GidEntry.GID_TYPE);
          type = Bits.constant(GidEntry.Type.values(), code, GidEntry.Type.UNKNOWN);
        }
      } catch (MissingSymbolException e) {
        status = Ibv.queryGid(pointer(), port, index, at);
      }
      if (status == -ENODATA) {
        return Optional.empty();
      }
      VerbsException.check(status, "ibv_query_gid_ex of entry " + index + " of port " + port);
      Gid gid = Gid.at(at);
      return gid.equals(Gid.NONE)
          ? Optional.empty()
          : Optional.of(
              new GidEntry(gid, index, type, Raw.half(at + VerbsStructs.GidEntry.NDEV_IFINDEX)));
    }
  }

  /**
   * The table of identifiers of a port, without its empty entries.
   *
   * @param port from 1
   * @return the entries
   * @throws VerbsException if there is no such port
   */
  public List<GidEntry> gids(int port) {
    List<GidEntry> entries = new ArrayList<>();
    int count = port(port).gidEntries();
    for (int index = 0; index < count; index++) {
      gid(port, index).ifPresent(entries::add);
    }
    return entries;
  }

  /**
   * The identifier to use when none is asked for: RoCE version 2 with an IPv4 address before RoCE
   * version 2, before anything else.
   *
   * @param port from 1
   * @return an entry, or nothing if the table is empty
   * @throws VerbsException if there is no such port
   */
  public Optional<GidEntry> preferredGid(int port) {
    GidEntry best = null;
    for (GidEntry entry : gids(port)) {
      if (best == null || rank(entry) > rank(best)) {
        best = entry;
      }
    }
    return Optional.ofNullable(best);
  }

  private static int rank(GidEntry entry) {
    int type = entry.type() == GidEntry.Type.ROCE_V2 ? 2 : 0;
    return type + (entry.gid().isIpv4() ? 1 : 0);
  }

  /**
   * An entry of a port's table of partition keys ({@code ibv_query_pkey}).
   *
   * @param port from 1
   * @param index from 0
   * @return 16 bits
   * @throws VerbsException if there is no such entry
   */
  public int partitionKey(int port, int index) {
    Bits.inRange(port, 1, 255, "the port");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(JAVA_SHORT);
      VerbsException.check(
          Ibv.queryPkey(pointer(), port, index, key.address()),
          "ibv_query_pkey of entry " + index + " of port " + port);
      return Bits.networkShort(key.get(JAVA_SHORT, 0));
    }
  }

  /**
   * Opens a protection domain ({@code ibv_alloc_pd}).
   *
   * @return a domain, to be closed
   * @throws VerbsException if the library refuses
   */
  public ProtectionDomain protectionDomain() {
    return new ProtectionDomain(this);
  }

  /**
   * Opens a completion channel ({@code ibv_create_comp_channel}).
   *
   * @return a channel, to be closed
   * @throws VerbsException if the library refuses
   */
  public CompletionChannel completionChannel() {
    return new CompletionChannel(this);
  }

  /**
   * Opens a completion queue without a channel ({@code ibv_create_cq}).
   *
   * @param entries how many completions it must hold, at least 1
   * @return a queue, to be closed
   * @throws VerbsException if the library refuses
   */
  public CompletionQueue completionQueue(int entries) {
    return CompletionQueue.open(this, entries, null, 0);
  }

  /**
   * Opens a completion queue that a thread can sleep for ({@code ibv_create_cq}).
   *
   * @param entries how many completions it must hold, at least 1
   * @param channel where its events go, of this context
   * @param vector which interrupt, below {@link #completionVectors}
   * @return a queue, to be closed
   * @throws VerbsException if the library refuses
   */
  public CompletionQueue completionQueue(int entries, CompletionChannel channel, int vector) {
    return CompletionQueue.open(this, entries, channel, vector);
  }

  /**
   * Opens an extended completion queue ({@code ibv_create_cq_ex}), whose completions are read one
   * by one and may have timestamps.
   *
   * @param entries how many completions it must hold, at least 1
   * @param channel where its events go, or null
   * @param timestamps whether completions have one
   * @return a queue, to be closed
   * @throws VerbsException if the device cannot do it
   */
  public ExtendedCompletionQueue extendedCompletionQueue(
      int entries, CompletionChannel channel, boolean timestamps) {
    return ExtendedCompletionQueue.open(this, entries, channel, timestamps);
  }

  /**
   * A descriptor that is readable when {@link #pollAsync} has something. It belongs to the context
   * and does not block.
   *
   * @return a file descriptor, for poll or epoll
   */
  public int asyncDescriptor() {
    long ignored = pointer();
    return asyncDescriptor;
  }

  /**
   * Takes an asynchronous event ({@code ibv_get_async_event}) and acknowledges it at once. Does not
   * block. Events of objects that are closed are dropped.
   *
   * @return an event; nothing if there is none
   * @throws VerbsException if the device is gone
   */
  public Optional<AsyncEvent> pollAsync() {
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, VerbsStructs.AsyncEvent.STRUCT).address();
      while (true) {
        int status = Ibv.getAsyncEvent(pointer(), at);
        if (status == -EAGAIN || status == -EINTR) {
          return Optional.empty();
        }
        VerbsException.check(status, "ibv_get_async_event of " + name);
        int type = Raw.half(at + VerbsStructs.AsyncEvent.EVENT_TYPE);
        long element = Raw.word(at + VerbsStructs.AsyncEvent.ELEMENT);
        // Found before it is acknowledged: until then the object cannot be destroyed.
        NativeObject object = live.get(element);
        Ibv.ackAsyncEvent(at);
        Optional<AsyncEvent> event = event(type, element, object);
        if (event.isPresent()) {
          return event;
        }
      }
    }
  }

  private static Optional<AsyncEvent> event(int code, long element, NativeObject object) {
    AsyncEvent.Type type = AsyncEvent.Type.of(code);
    if (AsyncEvent.ofPort(code)) {
      return Optional.of(new AsyncEvent(type, null, null, null, (int) element));
    }
    if (AsyncEvent.ofQueuePair(code)) {
      return object instanceof QueuePair queuePair
          ? Optional.of(new AsyncEvent(type, queuePair, null, null, 0))
          : Optional.empty();
    }
    if (AsyncEvent.ofSharedReceiveQueue(code)) {
      return object instanceof SharedReceiveQueue queue
          ? Optional.of(new AsyncEvent(type, null, null, queue, 0))
          : Optional.empty();
    }
    if (code == VerbsConstants.IBV_EVENT_CQ_ERR) {
      return object instanceof CompletionQueue queue
          ? Optional.of(new AsyncEvent(type, null, queue, null, 0))
          : Optional.empty();
    }
    return Optional.of(new AsyncEvent(type, null, null, null, 0));
  }

  /** Asynchronous events may name it from now on. */
  void register(long address, NativeObject object) {
    live.put(address, object);
  }

  void unregister(long address, NativeObject object) {
    live.remove(address, object);
  }

  QueuePairTable queuePairs() {
    return queuePairs;
  }

  /** Objects of two contexts must not meet. */
  void require(Context other, String what) {
    if (other != this) {
      throw new IllegalArgumentException(
          "the " + what + " is of the context " + other.name + ", not of " + name);
    }
  }

  @Override
  int destroy(long address) {
    if (borrowed) {
      throw new IllegalStateException(
          "the context " + name + " belongs to RDMA CM, which closes it");
    }
    return Ibv.closeDevice(address);
  }

  @Override
  public String toString() {
    return "context " + name;
  }

  /** A place for one 64-bit result. */
  static MemorySegment word(Arena arena) {
    return arena.allocate(JAVA_LONG);
  }

  /** A place for one 32-bit result. */
  static MemorySegment half(Arena arena) {
    return arena.allocate(JAVA_INT);
  }
}
