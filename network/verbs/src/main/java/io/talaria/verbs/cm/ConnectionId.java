// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.talaria.ffi.Raw;
import io.talaria.verbs.Context;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.VerbsException;
import io.talaria.verbs.binding.CmConstants;
import io.talaria.verbs.binding.CmStructs.CmId;
import io.talaria.verbs.binding.CmStructs.ConnParam;
import io.talaria.verbs.binding.Internals;
import io.talaria.verbs.binding.RdmaCm;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * What RDMA CM has instead of a socket ({@code rdma_cm_id}): it listens, or connects, or is a
 * connection. Belongs to its event channel, where the outcome of most calls is told. One thread at
 * a time.
 *
 * <pre>
 *   client: create, resolveAddress, (ADDRESS_RESOLVED) resolveRoute, (ROUTE_RESOLVED)
 *           open a queue pair, connect, (ESTABLISHED)
 *   server: create, bind, listen, (CONNECT_REQUEST: a new one) open a queue pair, post receive
 *           requests, accept, (ESTABLISHED)
 *   both:   disconnect, (DISCONNECTED), close the queue pair, close
 * </pre>
 */
public final class ConnectionId implements AutoCloseable {
  private final EventChannel channel;
  private final PortSpace space;

  /** 0 once closed. Guarded by this. */
  private long pointer;

  private QueuePair queuePair;

  ConnectionId(EventChannel channel, long pointer, PortSpace space) {
    this.channel = channel;
    this.pointer = pointer;
    this.space = space;
  }

  private synchronized long pointer() {
    if (pointer == 0) {
      throw new IllegalStateException("the identifier is closed");
    }
    return pointer;
  }

  PortSpace space() {
    return space;
  }

  private static void check(int status, String what) {
    if (status < 0) {
      throw new VerbsException(status, what);
    }
  }

  /**
   * The device it is on, once that is known: after {@link ConnectionEvent.Type#ADDRESS_RESOLVED},
   * or of a request to connect. What is opened for the connection must be of this context.
   *
   * @return a borrowed context; nothing if it is not known yet
   */
  public Optional<Context> context() {
    long context = Raw.word(pointer() + CmId.VERBS);
    return context == 0 ? Optional.empty() : Optional.of(Internals.get().borrow(context));
  }

  /**
   * The queue pair that was opened for it.
   *
   * @return a queue pair, or nothing
   */
  public synchronized Optional<QueuePair> queuePair() {
    return Optional.ofNullable(queuePair);
  }

  /**
   * Takes an address of this host ({@code rdma_bind_addr}).
   *
   * @param local port 0: any
   * @throws VerbsException if it is taken, or there is no device to it
   */
  public void bind(InetSocketAddress local) {
    try (Arena arena = Arena.ofConfined()) {
      check(
          RdmaCm.bindAddr(pointer(), SocketAddresses.store(local, arena)),
          "rdma_bind_addr to " + local);
    }
  }

  /**
   * Waits for peers ({@code rdma_listen}).
   *
   * @param backlog how many may wait to be accepted, at least 0
   * @throws VerbsException if the library refuses
   */
  public void listen(int backlog) {
    ConnectionParameters.inRange(backlog, 1 << 16, "the backlog");
    check(RdmaCm.listen(pointer(), backlog), "rdma_listen");
  }

  /**
   * Looks for a device to an address ({@code rdma_resolve_addr}). Does not block; ends with {@link
   * ConnectionEvent.Type#ADDRESS_RESOLVED} or {@link ConnectionEvent.Type#ADDRESS_ERROR}.
   *
   * @param local the address of this side, or null
   * @param peer the address of the peer
   * @param timeoutMs how long that may take, at least 1
   * @throws VerbsException if there is none
   */
  public void resolveAddress(InetSocketAddress local, InetSocketAddress peer, int timeoutMs) {
    positive(timeoutMs);
    try (Arena arena = Arena.ofConfined()) {
      check(
          RdmaCm.resolveAddr(
              pointer(),
              local == null ? 0 : SocketAddresses.store(local, arena),
              SocketAddresses.store(peer, arena),
              timeoutMs),
          "rdma_resolve_addr of " + peer);
    }
  }

  /**
   * Looks for a route ({@code rdma_resolve_route}). Does not block; ends with {@link
   * ConnectionEvent.Type#ROUTE_RESOLVED} or {@link ConnectionEvent.Type#ROUTE_ERROR}.
   *
   * @param timeoutMs how long that may take, at least 1
   * @throws VerbsException if there is none
   */
  public void resolveRoute(int timeoutMs) {
    positive(timeoutMs);
    check(RdmaCm.resolveRoute(pointer(), timeoutMs), "rdma_resolve_route");
  }

  private static void positive(int timeoutMs) {
    if (timeoutMs < 1) {
      throw new IllegalArgumentException("a time-out of " + timeoutMs + " ms");
    }
  }

  /**
   * Opens the queue pair of the connection ({@code rdma_create_qp}), ready to be posted receive
   * requests to. RDMA CM changes its state as the connection goes.
   *
   * @param options of the same context
   * @return a queue pair, to be closed before the identifier
   * @throws VerbsException if the device refuses
   * @throws IllegalArgumentException if the options are of another context
   * @throws IllegalStateException if it has one, or its device is not known yet
   */
  public synchronized QueuePair open(QueuePair.Builder options) {
    if (queuePair != null && queuePair.isOpen()) {
      throw new IllegalStateException("the identifier has a queue pair already");
    }
    Context context =
        context()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "the device is not known before the address is resolved"));
    Internals.get().requireContext(context, options);
    queuePair = Internals.get().open(options, pointer());
    return queuePair;
  }

  /**
   * Connects ({@code rdma_connect}). Does not block; ends with {@link
   * ConnectionEvent.Type#ESTABLISHED}, {@link ConnectionEvent.Type#REJECTED} or another failure.
   *
   * @param parameters what to agree on
   * @throws VerbsException if the library refuses
   */
  public void connect(ConnectionParameters parameters) {
    ConnectionParameters.inRange(
        parameters.privateData().length,
        ConnectionParameters.CONNECT_BYTES,
        "the length of the private data");
    withParameters(parameters, true);
  }

  /**
   * Accepts a peer ({@code rdma_accept}). Does not block; ends with {@link
   * ConnectionEvent.Type#ESTABLISHED}.
   *
   * @param parameters what to agree on
   * @throws VerbsException if the library refuses
   */
  public void accept(ConnectionParameters parameters) {
    withParameters(parameters, false);
  }

  private void withParameters(ConnectionParameters parameters, boolean connect) {
    try (Arena arena = Arena.ofConfined()) {
      long at = arena.allocate(ConnParam.STRUCT.layout()).address();
      byte[] data = parameters.privateData();
      Raw.word(at + ConnParam.PRIVATE_DATA, data.length == 0 ? 0 : copy(data, arena));
      set(at + ConnParam.PRIVATE_DATA_LEN, data.length);
      set(at + ConnParam.RESPONDER_RESOURCES, parameters.readsIn());
      set(at + ConnParam.INITIATOR_DEPTH, parameters.readsOut());
      set(at + ConnParam.RETRY_COUNT, parameters.retries());
      set(at + ConnParam.RNR_RETRY_COUNT, parameters.notReadyRetries());
      check(
          connect ? RdmaCm.connect(pointer(), at) : RdmaCm.accept(pointer(), at),
          connect ? "rdma_connect" : "rdma_accept");
    }
  }

  private static void set(long at, int value) {
    Raw.MEMORY.set(JAVA_BYTE, at, (byte) value);
  }

  private static long copy(byte[] data, Arena arena) {
    return MemorySegment.ofArray(data).byteSize() == 0
        ? 0
        : arena.allocateFrom(JAVA_BYTE, data).address();
  }

  /**
   * Says no to a peer ({@code rdma_reject}).
   *
   * @param privateData bytes for the peer, at most {@link ConnectionParameters#REJECT_BYTES}
   * @throws VerbsException if the library refuses
   */
  public void reject(byte... privateData) {
    ConnectionParameters.inRange(
        privateData.length, ConnectionParameters.REJECT_BYTES, "the length of the private data");
    try (Arena arena = Arena.ofConfined()) {
      check(RdmaCm.reject(pointer(), copy(privateData, arena), privateData.length), "rdma_reject");
    }
  }

  /**
   * Ends the connection ({@code rdma_disconnect}): the queue pair goes into error, and {@link
   * ConnectionEvent.Type#DISCONNECTED} comes at the other end. The other end answers by calling
   * this method, too: only then, or after a time-out of RDMA CM of a minute or more, does the event
   * come at the end that called first.
   *
   * @throws VerbsException if there is none
   */
  public void disconnect() {
    check(RdmaCm.disconnect(pointer()), "rdma_disconnect");
  }

  /**
   * Lets other identifiers listen at the same port ({@code RDMA_OPTION_ID_REUSEADDR}); before
   * {@link #bind}.
   *
   * @throws VerbsException if the library refuses
   */
  public void reuseAddress() {
    try (Arena arena = Arena.ofConfined()) {
      long one = arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_INT, 1).address();
      check(
          RdmaCm.setOption(
              pointer(), CmConstants.RDMA_OPTION_ID, CmConstants.RDMA_OPTION_ID_REUSEADDR, one, 4),
          "rdma_set_option");
    }
  }

  /**
   * The address of this host ({@code rdma_get_local_addr}).
   *
   * @return an address; nothing if there is none yet
   */
  public Optional<InetSocketAddress> localAddress() {
    return Optional.ofNullable(SocketAddresses.read(pointer() + CmId.ROUTE_ADDR_SRC_STORAGE));
  }

  /**
   * The address of the peer ({@code rdma_get_peer_addr}).
   *
   * @return an address; nothing if there is none
   */
  public Optional<InetSocketAddress> peerAddress() {
    return Optional.ofNullable(SocketAddresses.read(pointer() + CmId.ROUTE_ADDR_DST_STORAGE));
  }

  /**
   * The port of the device, from 1.
   *
   * @return its number, 0 if it is not known yet
   */
  public int port() {
    return Raw.byteAt(pointer() + CmId.PORT_NUM) & 0xff;
  }

  /**
   * Ends it ({@code rdma_destroy_id}); a connection is cut. Does nothing if it is closed.
   *
   * @throws IllegalStateException if its queue pair is open
   * @throws VerbsException if the library refuses
   */
  @Override
  public synchronized void close() {
    if (pointer == 0) {
      return;
    }
    if (queuePair != null && queuePair.isOpen()) {
      throw new IllegalStateException("the identifier still has a queue pair: close it first");
    }
    long id = pointer;
    pointer = 0;
    // Before: its address may be another identifier's as soon as it is destroyed.
    channel.forget(id);
    int status = RdmaCm.destroyId(id);
    if (status < 0) {
      pointer = id;
      channel.remember(id, this);
      throw new VerbsException(status, "rdma_destroy_id");
    }
  }
}
