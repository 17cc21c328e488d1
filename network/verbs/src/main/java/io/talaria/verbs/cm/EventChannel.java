// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.Raw;
import io.talaria.verbs.Context;
import io.talaria.verbs.Verbs;
import io.talaria.verbs.VerbsException;
import io.talaria.verbs.binding.CmConstants;
import io.talaria.verbs.binding.CmLibrary;
import io.talaria.verbs.binding.CmStructs.CmEvent;
import io.talaria.verbs.binding.CmStructs.CmId;
import io.talaria.verbs.binding.CmStructs.ConnParam;
import io.talaria.verbs.binding.CmStructs.UdParam;
import io.talaria.verbs.binding.Internals;
import io.talaria.verbs.binding.RdmaCm;
import io.talaria.verbs.binding.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * By which RDMA CM tells what happens to its identifiers ({@code rdma_event_channel}). Owns them;
 * they must be closed first. One thread takes events at a time; the rest is usable by any.
 */
public final class EventChannel implements AutoCloseable {
  private static final int EAGAIN = 11;
  private static final int EINTR = 4;

  private final Map<Long, ConnectionId> ids = new ConcurrentHashMap<>();

  /** 0 once closed. Guarded by this. */
  private long pointer;

  private final int descriptor;

  private EventChannel(long pointer) {
    this.pointer = pointer;
    descriptor = Raw.half(pointer);
    Libc.nonBlocking(descriptor);
  }

  /**
   * Opens a channel ({@code rdma_create_event_channel}).
   *
   * @return a channel, to be closed
   * @throws MissingLibraryException if librdmacm or libibverbs is not installed
   * @throws VerbsException if the kernel has no RDMA CM, or it may not be used; the message says
   *     what to do
   */
  public static EventChannel open() {
    VerbsLibrary.required();
    CmLibrary.required();
    long pointer = RdmaCm.createEventChannel();
    if (pointer < 0) {
      throw new VerbsException(
          (int) pointer, "rdma_create_event_channel", Verbs.cmHint((int) pointer));
    }
    return new EventChannel(pointer);
  }

  /**
   * The devices that RDMA CM uses ({@code rdma_get_devices}). What is made of these contexts can be
   * used for connections made here, which that of other contexts cannot.
   *
   * @return borrowed contexts
   * @throws VerbsException if there is no device
   */
  public static List<Context> contexts() {
    VerbsLibrary.required();
    CmLibrary.required();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      long list = RdmaCm.getDevices(count.address());
      if (list < 0) {
        throw new VerbsException((int) list, "rdma_get_devices", Verbs.cmHint((int) list));
      }
      List<Context> contexts = new ArrayList<>();
      for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
        contexts.add(Internals.get().borrow(Raw.word(list + 8L * i)));
      }
      RdmaCm.freeDevices(list);
      return contexts;
    }
  }

  synchronized long pointer() {
    if (pointer == 0) {
      throw new IllegalStateException("the event channel is closed");
    }
    return pointer;
  }

  /**
   * Makes an identifier ({@code rdma_create_id}), to listen or to connect with.
   *
   * @param space what its port is of
   * @return an identifier, to be closed
   * @throws VerbsException if the library refuses
   */
  public synchronized ConnectionId create(PortSpace space) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      int status = RdmaCm.createId(pointer(), out.address(), 0, space.code());
      if (status < 0) {
        throw new VerbsException(status, "rdma_create_id");
      }
      return adopt(out.get(JAVA_LONG, 0), space);
    }
  }

  private ConnectionId adopt(long id, PortSpace space) {
    ConnectionId made = new ConnectionId(this, id, space);
    ids.put(id, made);
    return made;
  }

  void forget(long id) {
    ids.remove(id);
  }

  void remember(long id, ConnectionId object) {
    ids.put(id, object);
  }

  /**
   * A descriptor that is readable when {@link #take} has something. It belongs to the channel and
   * does not block.
   *
   * @return a file descriptor, for poll or epoll
   */
  public int descriptor() {
    long ignored = pointer();
    return descriptor;
  }

  /**
   * Waits until there is an event. Blocks the thread.
   *
   * @param timeoutMs how long to wait; negative: without limit
   * @return whether there is one; false: time is over
   */
  public boolean await(int timeoutMs) {
    return Libc.awaitReadable(descriptor(), timeoutMs);
  }

  /**
   * Takes an event ({@code rdma_get_cm_event}), copies it, and acknowledges it at once ({@code
   * rdma_ack_cm_event}). Does not block. Events of identifiers that are closed are dropped.
   *
   * @return an event; nothing if there is none
   * @throws VerbsException if the library fails
   */
  public Optional<ConnectionEvent> take() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      while (true) {
        int status = RdmaCm.getCmEvent(pointer(), out.address());
        if (status == -EAGAIN || status == -EINTR) {
          return Optional.empty();
        }
        if (status < 0) {
          throw new VerbsException(status, "rdma_get_cm_event");
        }
        long event = out.get(JAVA_LONG, 0);
        ConnectionEvent copy = copy(event);
        boolean orphan = copy.type() == ConnectionEvent.Type.CONNECT_REQUEST && copy.id() == null;
        long id = Raw.word(event + CmEvent.ID);
        int acknowledged = RdmaCm.ackCmEvent(event);
        if (acknowledged < 0) {
          throw new VerbsException(acknowledged, "rdma_ack_cm_event");
        }
        if (orphan) {
          // The library has made it for a listener that is being closed: nothing else refers to it.
          int ignored = RdmaCm.destroyId(id);
        }
        if (copy.id() != null) {
          return Optional.of(copy);
        }
      }
    }
  }

  /** Its identifier is null if that is not known any more. */
  private ConnectionEvent copy(long event) {
    int code = Raw.half(event + CmEvent.EVENT);
    long idPointer = Raw.word(event + CmEvent.ID);
    ConnectionId listener = null;
    ConnectionId id = ids.get(idPointer);
    if (code == CmConstants.RDMA_CM_EVENT_CONNECT_REQUEST) {
      listener = ids.get(Raw.word(event + CmEvent.LISTEN_ID));
      if (listener == null) {
        int ignored = RdmaCm.reject(idPointer, 0, 0);
      } else {
        id = adopt(idPointer, listener.space());
      }
    }
    long param = event + CmEvent.PARAM_UD;
    boolean datagrams =
        Raw.half(idPointer + CmId.PS) == CmConstants.RDMA_PS_UDP
            || code == CmConstants.RDMA_CM_EVENT_MULTICAST_JOIN;
    long data = Raw.word(param);
    byte[] bytes = new byte[data == 0 ? 0 : Raw.byteAt(param + 8) & 0xff];
    Raw.copy(data, bytes, 0, bytes.length);
    return new ConnectionEvent(
        ConnectionEvent.Type.of(code),
        id,
        listener,
        Raw.half(event + CmEvent.STATUS),
        bytes,
        datagrams ? 0 : Raw.byteAt(param + ConnParam.RESPONDER_RESOURCES) & 0xff,
        datagrams ? 0 : Raw.byteAt(param + ConnParam.INITIATOR_DEPTH) & 0xff,
        Raw.half(param + (datagrams ? UdParam.QP_NUM : ConnParam.QP_NUM)),
        datagrams ? Raw.half(param + UdParam.QKEY) : 0);
  }

  /**
   * Waits for an event and takes it. Blocks the thread.
   *
   * @param timeoutMs how long to wait
   * @return an event; nothing if time is over
   * @throws VerbsException if the library fails
   */
  public Optional<ConnectionEvent> next(int timeoutMs) {
    long end = System.nanoTime() + timeoutMs * 1_000_000L;
    while (true) {
      Optional<ConnectionEvent> event = take();
      long leftMs = (end - System.nanoTime() + 999_999) / 1_000_000;
      if (event.isPresent() || leftMs <= 0) {
        return event;
      }
      boolean ignored = await((int) leftMs);
    }
  }

  /**
   * Closes the channel ({@code rdma_destroy_event_channel}). Does nothing if it is closed.
   *
   * @throws IllegalStateException if it has identifiers that are open
   */
  @Override
  public synchronized void close() {
    if (pointer == 0) {
      return;
    }
    if (!ids.isEmpty()) {
      throw new IllegalStateException(
          "the event channel still has " + ids.size() + " open identifiers: close them first");
    }
    RdmaCm.destroyEventChannel(pointer);
    pointer = 0;
  }
}
