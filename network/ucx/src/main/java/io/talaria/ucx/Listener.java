// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_LISTENER_ATTR_FIELD_SOCKADDR;
import static io.talaria.ucx.binding.UcpConstants.UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
import static io.talaria.ucx.binding.UcpConstants.UCP_LISTENER_PARAM_FIELD_SOCK_ADDR;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.NumberLocale;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.ListenerAttr;
import io.talaria.ucx.binding.UcpStructs.ListenerParams;
import io.talaria.ucx.binding.UcpUpcalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;

/**
 * Waits for clients that connect to a socket address ({@code ucp_listener_h}). Belongs to its
 * worker and obeys its rule of threads; clients are found inside the worker's progress. As long as
 * there is one, calls on the worker take some nanoseconds longer, because UCX may call into Java.
 */
public final class Listener implements AutoCloseable {
  private final Worker worker;
  private final Arena arena = Arena.ofAuto();
  private final Queue<ConnectionRequest> waiting = new ArrayDeque<>();

  /** Polled, but neither accepted nor rejected yet. Guarded by this object's monitor. */
  private final Set<ConnectionRequest> polled = new HashSet<>();

  private long handle;

  private Listener(Worker worker) {
    this.worker = worker;
  }

  static Listener create(Worker worker, InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("unresolved: " + address);
    }
    Listener listener = new Listener(worker);
    long stub = UcpUpcalls.connection(listener::requested, listener.arena);
    long handle = worker.entered();
    worker.add(listener);
    try {
      listener.handle = NumberLocale.call(() -> create(handle, address, stub));
      return listener;
    } catch (RuntimeException | Error e) {
      worker.remove(listener);
      throw e;
    }
  }

  private static long create(long worker, InetSocketAddress address, long stub) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      MemorySegment where = SocketAddresses.toNative(arena, address);
      MemorySegment params = Native.zeroed(arena, ListenerParams.STRUCT);
      params.set(
          JAVA_LONG,
          ListenerParams.FIELD_MASK,
          UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER);
      params.set(JAVA_LONG, ListenerParams.SOCKADDR_ADDR, where.address());
      params.set(JAVA_INT, ListenerParams.SOCKADDR_ADDRLEN, (int) where.byteSize());
      params.set(JAVA_LONG, ListenerParams.CONN_HANDLER_CB, stub);
      Status.check(
          Ucp.listenerCreate(worker, params.address(), out.address()),
          "ucp_listener_create at " + address);
      return out.get(JAVA_LONG, 0);
    }
  }

  /** UCX calls this inside progress. */
  private void requested(long connRequest, long argument) {
    waiting.add(new ConnectionRequest(this, connRequest));
  }

  /**
   * Takes the client that has waited longest.
   *
   * @return the client's request, to be accepted or rejected; null if no client waits
   */
  public ConnectionRequest poll() {
    open();
    ConnectionRequest request = waiting.poll();
    if (request != null) {
      synchronized (this) {
        polled.add(request);
      }
    }
    return request;
  }

  /** A request is accepted or rejected; the caller holds this object's monitor. */
  void used(ConnectionRequest request) {
    polled.remove(request);
  }

  /**
   * Where it listens ({@code ucp_listener_query}).
   *
   * @return an address with the real port
   */
  public InetSocketAddress address() {
    long listener = open();
    try (Arena temporary = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(temporary, ListenerAttr.STRUCT);
      attr.set(JAVA_LONG, ListenerAttr.FIELD_MASK, UCP_LISTENER_ATTR_FIELD_SOCKADDR);
      Status.check(Ucp.listenerQuery(listener, attr.address()), "ucp_listener_query");
      return SocketAddresses.fromNative(attr.asSlice(ListenerAttr.SOCKADDR));
    }
  }

  Worker worker() {
    return worker;
  }

  /** The handle; the caller holds this object's monitor or is the worker's thread. */
  long handleIfOpen() {
    return handle;
  }

  private long open() {
    worker.entered();
    if (handle == 0) {
      throw new IllegalStateException("the listener is closed");
    }
    return handle;
  }

  /**
   * Closes the listener and rejects the clients that wait ({@code ucp_listener_destroy}), and those
   * that were polled but neither accepted nor rejected. Does nothing if it is closed.
   */
  @Override
  public void close() {
    if (handle == 0) {
      return;
    }
    worker.entered();
    ConnectionRequest request;
    while ((request = waiting.poll()) != null) {
      request.reject();
    }
    synchronized (this) {
      for (ConnectionRequest each : List.copyOf(polled)) {
        each.reject();
      }
      long listener = handle;
      handle = 0;
      Ucp.listenerDestroy(listener);
    }
    worker.remove(this);
  }
}
