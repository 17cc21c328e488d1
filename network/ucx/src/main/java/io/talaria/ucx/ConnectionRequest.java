// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
import static io.talaria.ucx.binding.UcpConstants.UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.ConnRequestAttr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/**
 * A client that asks a {@link Listener} to be connected ({@code ucp_conn_request_h}). May be handed
 * to another thread, whose worker then accepts it by {@link Worker#accept}. To be accepted or
 * rejected, once, before its listener is closed, which rejects it.
 */
public final class ConnectionRequest {
  private final Listener listener;

  /** Guarded by the listener's monitor. 0: used up. */
  private long handle;

  ConnectionRequest(Listener listener, long handle) {
    this.listener = listener;
    this.handle = handle;
  }

  /**
   * Where the client is ({@code ucp_conn_request_query}).
   *
   * @return an address
   */
  public InetSocketAddress clientAddress() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = query(arena, UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR);
      return SocketAddresses.fromNative(attr.asSlice(ConnRequestAttr.CLIENT_ADDRESS));
    }
  }

  /**
   * What the client calls itself ({@code ucp_conn_request_query}), if it does.
   *
   * @return its {@link Worker.Options#clientId}
   */
  public long clientId() {
    try (Arena arena = Arena.ofConfined()) {
      return query(arena, UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID)
          .get(JAVA_LONG, ConnRequestAttr.CLIENT_ID);
    }
  }

  private MemorySegment query(Arena arena, long field) {
    MemorySegment attr = Native.zeroed(arena, ConnRequestAttr.STRUCT);
    attr.set(JAVA_LONG, ConnRequestAttr.FIELD_MASK, field);
    synchronized (listener) {
      Status.check(Ucp.connRequestQuery(open(), attr.address()), "ucp_conn_request_query");
    }
    return attr;
  }

  Endpoint accept(Worker worker, Endpoint.Options options) {
    if (worker.context() != listener.worker().context()) {
      throw new IllegalArgumentException("the worker is of another context than the listener");
    }
    synchronized (listener) {
      return Endpoint.create(worker, options, take());
    }
  }

  /** Refuses the client ({@code ucp_listener_reject}); for the thread of the listener's worker. */
  public void reject() {
    listener.worker().entered();
    synchronized (listener) {
      long request = take();
      Status.check(Ucp.listenerReject(listener.handleIfOpen(), request), "ucp_listener_reject");
    }
  }

  private long take() {
    long request = open();
    handle = 0;
    listener.used(this);
    return request;
  }

  private long open() {
    if (listener.handleIfOpen() == 0) {
      throw new IllegalStateException("the listener is closed");
    }
    if (handle == 0) {
      throw new IllegalStateException("the client was accepted or rejected before");
    }
    return handle;
  }
}
