// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_CLOSE_FLAG_FORCE;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAMS_FLAGS_NO_LOOPBACK;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_CONN_REQUEST;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_ERR_HANDLER;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_FLAGS;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_NAME;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_SOCK_ADDR;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PARAM_FIELD_USER_DATA;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME;
import static io.talaria.ucx.binding.UcpConstants.UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FIELD_FLAGS;
import static io.talaria.ucx.binding.UcpConstants.UCP_STREAM_RECV_FLAG_WAITALL;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NumberLocale;
import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.StatusPointer;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.EpAttr;
import io.talaria.ucx.binding.UcpStructs.EpEvaluatePerfAttr;
import io.talaria.ucx.binding.UcpStructs.EpEvaluatePerfParam;
import io.talaria.ucx.binding.UcpStructs.EpParams;
import io.talaria.ucx.binding.UcpStructs.RequestParam;
import io.talaria.ucx.binding.UcpUpcalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;

/**
 * A connection to a peer ({@code ucp_ep_h}). Belongs to its worker and obeys the worker's rule of
 * threads. Once closed, every call but {@link #close}, {@link #isOpen} and {@link #toString} throws
 * {@link IllegalStateException}.
 *
 * <p>The calls of the data path answer 0 (done), a request (greater than 1) or a negative {@link
 * Status}; they neither block nor allocate. A buffer is native memory; it belongs to UCX until the
 * operation is done, and its arena must not be closed before.
 *
 * <p>Two endpoints made from each other's {@link WorkerAddress} are paired by UCX in the order of
 * creation for each pair of workers, which matters to streams: with more than one, the first bytes
 * must tell which is which.
 */
public final class Endpoint implements AutoCloseable {
  private static final List<Feature> REMOTE_FEATURES =
      List.of(Feature.RMA, Feature.ATOMIC_32, Feature.ATOMIC_64);

  private static final long CLOSE_TIMEOUT_NS = 1_000_000_000;
  private static final long FORCE = constantParam((int) UCP_EP_CLOSE_FLAG_FORCE);
  private static final long WAIT_ALL = constantParam((int) UCP_STREAM_RECV_FLAG_WAITALL);

  private final Worker worker;
  private final ErrorHandling errorHandling;
  private final String name;
  private final long cell;

  /** 0: closed, as far as the program is concerned. */
  private long handle;

  private long closeRequest;
  private int failure;
  private boolean done;
  private Object attachment;

  /** Whether bytes of the peer's stream were received, so that the two have found each other. */
  private boolean heard;

  /** Whether it was closed while UCX may have had a reply to send: see {@link #mayOweReply}. */
  private boolean closedOwing;

  /** The chunks that the program holds, linked. */
  private StreamChunk held;

  /** The peer's memory that is open through this endpoint, linked. */
  private RemoteMemory memories;

  private Endpoint(Worker worker, Options options) {
    this.worker = worker;
    errorHandling = options.errorHandling;
    name = options.describe();
    cell = worker.endpoints().add(this);
  }

  private static long constantParam(int flags) {
    MemorySegment param = Arena.global().allocate(RequestParam.SIZE, 8);
    param.set(JAVA_INT, RequestParam.OP_ATTR_MASK, (int) UCP_OP_ATTR_FIELD_FLAGS);
    param.set(JAVA_INT, RequestParam.FLAGS, flags);
    return param.address();
  }

  /** Which peer an endpoint reaches, and how. Immutable. */
  public static final class Options {
    private static final Options NOBODY =
        new Options(null, null, ErrorHandling.PEER, "", false, false);

    private final WorkerAddress address;
    private final InetSocketAddress socketAddress;
    private final ErrorHandling errorHandling;
    private final String name;
    private final boolean noLoopback;
    private final boolean sendClientId;

    private Options(
        WorkerAddress address,
        InetSocketAddress socketAddress,
        ErrorHandling errorHandling,
        String name,
        boolean noLoopback,
        boolean sendClientId) {
      this.address = address;
      this.socketAddress = socketAddress;
      this.errorHandling = errorHandling;
      this.name = name;
      this.noLoopback = noLoopback;
      this.sendClientId = sendClientId;
    }

    /**
     * Reaches a worker by its address.
     *
     * @param address what {@link Worker#address} gave there
     * @return options
     */
    public static Options to(WorkerAddress address) {
      return new Options(address, null, ErrorHandling.PEER, "", false, false);
    }

    /**
     * Reaches a listener by its socket address.
     *
     * <p>UCX 1.13 loses what is sent before the two sides have found each other if it is shorter
     * than the short messages of the transport it starts with, and longer than those of the one it
     * ends with. Await a {@link Endpoint#flush} on both sides before sending.
     *
     * @param address a resolved address
     * @return options
     */
    public static Options to(InetSocketAddress address) {
      if (address.isUnresolved()) {
        throw new IllegalArgumentException("unresolved: " + address);
      }
      return new Options(null, address, ErrorHandling.PEER, "", false, false);
    }

    /**
     * For {@link Worker#accept}: the peer is the one who asks.
     *
     * @return options
     */
    public static Options accepting() {
      return NOBODY;
    }

    /**
     * How the endpoint handles failures of the peer; {@link ErrorHandling#PEER} by default. Both
     * sides must choose the same.
     *
     * @param handling what to do
     * @return changed options
     */
    public Options errorHandling(ErrorHandling handling) {
      return new Options(address, socketAddress, handling, name, noLoopback, sendClientId);
    }

    /**
     * A name for messages.
     *
     * @param text a short text
     * @return changed options
     */
    public Options name(String text) {
      return new Options(address, socketAddress, errorHandling, text, noLoopback, sendClientId);
    }

    /**
     * Two endpoints of one worker to itself are to be a pair, instead of each being its own peer.
     *
     * @return changed options
     */
    public Options noLoopback() {
      return new Options(address, socketAddress, errorHandling, name, true, sendClientId);
    }

    /**
     * The listener is to learn {@link Worker.Options#clientId}.
     *
     * @return changed options
     */
    public Options sendClientId() {
      return new Options(address, socketAddress, errorHandling, name, noLoopback, true);
    }

    private String describe() {
      String peer =
          address != null
              ? address.toString()
              : socketAddress != null ? socketAddress.toString() : "a client";
      return name.isEmpty() ? peer : name + " (" + peer + ")";
    }
  }

  static Endpoint create(Worker worker, Options options) {
    if (options.address == null && options.socketAddress == null) {
      throw new IllegalArgumentException("the options name no peer");
    }
    return create(worker, options, 0);
  }

  /** Creates an endpoint; the connection request, if any, is used up. */
  static Endpoint create(Worker worker, Options options, long connectionRequest) {
    Endpoint endpoint = new Endpoint(worker, options);
    try {
      long handle = worker.entered();
      endpoint.handle =
          NumberLocale.call(() -> create(handle, options, connectionRequest, endpoint.cell));
      return endpoint;
    } catch (RuntimeException | Error e) {
      endpoint.closeCompleted();
      throw e;
    }
  }

  private static long create(long worker, Options options, long request, long cell) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = Native.zeroed(arena, EpParams.STRUCT);
      long mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_USER_DATA;
      params.set(JAVA_INT, EpParams.ERR_TRANSPORT, options.errorHandling.code());
      params.set(JAVA_LONG, EpParams.USER_DATA, cell);
      if (options.errorHandling == ErrorHandling.PEER) {
        mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.set(JAVA_LONG, EpParams.ERR_HANDLER_CB, UcpUpcalls.raiseSemaphore());
        params.set(JAVA_LONG, EpParams.ERR_HANDLER_ARG, cell);
      }
      long flags = options.noLoopback ? UCP_EP_PARAMS_FLAGS_NO_LOOPBACK : 0;
      if (request != 0) {
        mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
        params.set(JAVA_LONG, EpParams.CONN_REQUEST, request);
      } else if (options.address != null) {
        mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.set(JAVA_LONG, EpParams.ADDRESS, options.address.toNative(arena));
      } else {
        mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR;
        flags |= UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        flags |= options.sendClientId ? UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID : 0;
        MemorySegment peer = SocketAddresses.toNative(arena, options.socketAddress);
        params.set(JAVA_LONG, EpParams.SOCKADDR_ADDR, peer.address());
        params.set(JAVA_INT, EpParams.SOCKADDR_ADDRLEN, (int) peer.byteSize());
      }
      if (flags != 0) {
        mask |= UCP_EP_PARAM_FIELD_FLAGS;
        params.set(JAVA_INT, EpParams.FLAGS, (int) flags);
      }
      if (!options.name.isEmpty()) {
        mask |= UCP_EP_PARAM_FIELD_NAME;
        params.set(JAVA_LONG, EpParams.NAME, arena.allocateFrom(options.name).address());
      }
      params.set(JAVA_LONG, EpParams.FIELD_MASK, mask);
      MemorySegment out = arena.allocate(JAVA_LONG);
      Status.check(
          Ucp.epCreate(worker, params.address(), out.address()),
          "ucp_ep_create to " + options.describe());
      return out.get(JAVA_LONG, 0);
    }
  }

  /**
   * The worker it belongs to.
   *
   * @return the worker
   */
  public Worker worker() {
    return worker;
  }

  /**
   * How it handles failures of the peer.
   *
   * @return the kind of error handling
   */
  public ErrorHandling errorHandling() {
    return errorHandling;
  }

  /**
   * What the program has attached.
   *
   * @return any object, or null
   */
  public Object attachment() {
    return attachment;
  }

  /**
   * Attaches an object, such as the connection that {@link Worker#pollStreams} is to lead to.
   *
   * @param object any, or null
   */
  public void attach(Object object) {
    attachment = object;
  }

  /**
   * Whether it has not been closed. It may have failed all the same.
   *
   * @return whether it is open
   */
  public boolean isOpen() {
    return handle != 0;
  }

  boolean hasHandle(long other) {
    return handle == other;
  }

  /** The handle, for a thread that may use it. */
  long open() {
    worker.entered();
    long ep = handle;
    if (ep == 0) {
      throw new IllegalStateException("the endpoint to " + name + " is closed");
    }
    return ep;
  }

  /** The handle, for a thread that may use it, if the context was opened for something. */
  long open(Feature feature) {
    worker.context().require(feature);
    return open();
  }

  /** The same, for a call that may give a request. */
  long openForRequest(Feature feature) {
    long ep = open(feature);
    worker.requests.reserve();
    return ep;
  }

  /**
   * Whether the peer or the way to it has failed; reads one word of memory.
   *
   * @return 0 as long as nothing is known, or a negative status
   */
  public int failure() {
    long ep = open();
    return EndpointTable.failed(cell) ? failureStatus(ep) : 0;
  }

  private int failureStatus(long ep) {
    if (failure == 0) {
      // UCX's handler said that, not why; a flush of a failed endpoint answers the reason.
      long answer = Ucp.epFlushNbx(ep, SendFlags.param(0));
      if (StatusPointer.isPointer(answer)) {
        Ucp.requestFree(answer);
      }
      failure = StatusPointer.isError(answer) ? (int) answer : Status.CONNECTION_RESET;
    }
    return failure;
  }

  /**
   * Completes when all that was sent before has arrived ({@code ucp_ep_flush_nbx}).
   *
   * @return 0, a request, or a negative status
   */
  public long flush() {
    long ep = open();
    worker.requests.reserve();
    long param = SendFlags.param(0);
    long answer =
        worker.callsAreCritical() ? Ucp.epFlushNbxCritical(ep, param) : Ucp.epFlushNbx(ep, param);
    return worker.requests.posted(answer, RequestTable.SEND, null);
  }

  // Streams.

  /**
   * Sends bytes ({@code ucp_stream_send_nbx}). They arrive in order, after those of earlier calls.
   * None at all are done at once, without UCX.
   *
   * @param buffer native memory
   * @param offset where in it
   * @param length how many
   * @param flags {@link SendFlags}, or 0
   * @return 0: the buffer may be used again; a request: after it is done; {@link
   *     Status#NO_RESOURCE} with {@link SendFlags#IMMEDIATE}: nothing was sent; another negative
   *     status: the endpoint has failed
   */
  public long sendStream(MemorySegment buffer, long offset, long length, int flags) {
    long ep = openForRequest(Feature.STREAM);
    long address = Native.readable(buffer, offset, length);
    long param = SendFlags.param(flags);
    if (length == 0) {
      // UCX would send it, and 1.13 at the other end would abort its process.
      return 0;
    }
    try {
      long answer =
          length <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.streamSendNbxCritical(ep, address, length, param)
              : Ucp.streamSendNbx(ep, address, length, param);
      return answer == 0 ? 0 : worker.requests.posted(answer, RequestTable.SEND, buffer);
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  /**
   * Takes received bytes where they are ({@code ucp_stream_recv_data_nb}). They stay until the
   * chunk is released; several chunks may be held.
   *
   * @param chunk where to put them; it must hold none
   * @return how many bytes the chunk has now; 0: there are none; a negative status: the endpoint
   *     has failed
   */
  public long receiveStream(StreamChunk chunk) {
    long ep = open(Feature.STREAM);
    chunk.requireEmpty();
    long out = worker.scratch;
    long data =
        worker.callsAreCritical()
            ? Ucp.streamRecvDataNbCritical(ep, out)
            : Ucp.streamRecvDataNb(ep, out);
    if (data == 0 || StatusPointer.isError(data)) {
      return data;
    }
    heard = true;
    long length = Raw.word(out);
    chunk.hold(this, data, length, held);
    held = chunk;
    return length;
  }

  /** Gives a chunk back to UCX. */
  void release(StreamChunk chunk, long data) {
    long ep = open();
    held = StreamChunk.without(held, chunk);
    if (worker.callsAreCritical()) {
      Ucp.streamDataReleaseCritical(ep, data);
    } else {
      Ucp.streamDataRelease(ep, data);
    }
  }

  /**
   * Receives bytes into a buffer ({@code ucp_stream_recv_nbx}): some, as many as are there.
   *
   * @param buffer native memory; UCX's until the request is done
   * @param offset where in it
   * @param length how many at most
   * @return a request, done or not, whose {@link Worker#receivedBytes} tells how many; or a
   *     negative status
   */
  public long receiveStream(MemorySegment buffer, long offset, long length) {
    return receiveStream(buffer, offset, length, SendFlags.param(0));
  }

  /**
   * Receives bytes into a buffer until it is full ({@code ucp_stream_recv_nbx} with {@code
   * UCP_STREAM_RECV_FLAG_WAITALL}).
   *
   * @param buffer native memory; UCX's until the request is done
   * @param offset where in it
   * @param length how many
   * @return a request, done or not; or a negative status
   */
  public long receiveStreamFully(MemorySegment buffer, long offset, long length) {
    return receiveStream(buffer, offset, length, WAIT_ALL);
  }

  private long receiveStream(MemorySegment buffer, long offset, long length, long param) {
    long ep = openForRequest(Feature.STREAM);
    long address = Native.writable(buffer, offset, length);
    long out = worker.scratch;
    if (length == 0) {
      return worker.requests.received(0, RequestTable.STREAM_RECEIVE, null, 0, 0);
    }
    try {
      long answer =
          length <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.streamRecvNbxCritical(ep, address, length, out, param)
              : Ucp.streamRecvNbx(ep, address, length, out, param);
      return worker.requests.received(
          answer, RequestTable.STREAM_RECEIVE, buffer, answer == 0 ? Raw.word(out) : 0, 0);
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  // Messages by tag.

  /**
   * Sends a message ({@code ucp_tag_send_nbx}).
   *
   * @param buffer native memory
   * @param offset where in it
   * @param length how many bytes; may be 0
   * @param tag what receives are matched by
   * @param flags {@link SendFlags}, or 0
   * @return 0: the buffer may be used again; a request: after it is done; or a negative status
   */
  public long sendTag(MemorySegment buffer, long offset, long length, long tag, int flags) {
    long ep = openForRequest(Feature.TAG);
    long address = Native.readable(buffer, offset, length);
    long param = SendFlags.param(flags);
    try {
      long answer =
          length <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.tagSendNbxCritical(ep, address, length, tag, param)
              : Ucp.tagSendNbx(ep, address, length, tag, param);
      return answer == 0 ? 0 : worker.requests.posted(answer, RequestTable.SEND, buffer);
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  /**
   * Sends a message and is done only when the peer has begun to receive it ({@code
   * ucp_tag_send_sync_nbx}).
   *
   * @param buffer native memory
   * @param offset where in it
   * @param length how many bytes; may be 0
   * @param tag what receives are matched by
   * @param flags {@link SendFlags}, or 0
   * @return 0: the buffer may be used again; a request: after it is done; or a negative status
   */
  public long sendTagSync(MemorySegment buffer, long offset, long length, long tag, int flags) {
    long ep = openForRequest(Feature.TAG);
    long address = Native.readable(buffer, offset, length);
    long param = SendFlags.param(flags);
    try {
      long answer =
          length <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.tagSendSyncNbxCritical(ep, address, length, tag, param)
              : Ucp.tagSendSyncNbx(ep, address, length, tag, param);
      return answer == 0 ? 0 : worker.requests.posted(answer, RequestTable.SEND, buffer);
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  /**
   * Sends a message from several pieces of memory ({@code ucp_tag_send_nbx} of {@code
   * ucp_dt_iov_t}).
   *
   * @param vector the pieces
   * @param tag what receives are matched by
   * @param flags {@link SendFlags}, or 0
   * @return 0: the pieces may be used again; a request: after it is done; or a negative status
   */
  public long sendTag(IoVector vector, long tag, int flags) {
    long ep = openForRequest(Feature.TAG);
    long table = vector.readable();
    // An empty one is sent as bytes, of which there are none.
    long param = vector.count() == 0 ? SendFlags.param(flags) : RequestParams.vector(flags);
    try {
      long answer =
          vector.lengthBytes() <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.tagSendNbxCritical(ep, table, vector.count(), tag, param)
              : Ucp.tagSendNbx(ep, table, vector.count(), tag, param);
      return answer == 0 ? 0 : worker.requests.posted(answer, RequestTable.SEND, vector);
    } finally {
      Reference.reachabilityFence(vector);
    }
  }

  /**
   * Sends bytes from several pieces of memory ({@code ucp_stream_send_nbx} of {@code
   * ucp_dt_iov_t}). None at all are done at once, without UCX.
   *
   * @param vector the pieces
   * @param flags {@link SendFlags}, or 0
   * @return 0: the pieces may be used again; a request: after it is done; or a negative status
   */
  public long sendStream(IoVector vector, int flags) {
    long ep = openForRequest(Feature.STREAM);
    long table = vector.readable();
    long param = RequestParams.vector(flags);
    if (vector.count() == 0) {
      return 0;
    }
    try {
      long answer =
          vector.lengthBytes() <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.streamSendNbxCritical(ep, table, vector.count(), param)
              : Ucp.streamSendNbx(ep, table, vector.count(), param);
      return answer == 0 ? 0 : worker.requests.posted(answer, RequestTable.SEND, vector);
    } finally {
      Reference.reachabilityFence(vector);
    }
  }

  /**
   * Receives bytes into several pieces of memory until they are full ({@code ucp_stream_recv_nbx}
   * of {@code ucp_dt_iov_t}, with {@code UCP_STREAM_RECV_FLAG_WAITALL}).
   *
   * @param vector the pieces; UCX's until the request is done
   * @return a request, done or not; or a negative status
   */
  public long receiveStreamFully(IoVector vector) {
    return receiveStream(vector, RequestParams.FILL_VECTOR);
  }

  /**
   * Receives bytes into several pieces of memory: some, as many as are there ({@code
   * ucp_stream_recv_nbx} of {@code ucp_dt_iov_t}).
   *
   * @param vector the pieces; UCX's until the request is done
   * @return a request, done or not, whose {@link Worker#receivedBytes} tells how many; or a
   *     negative status
   */
  public long receiveStream(IoVector vector) {
    return receiveStream(vector, RequestParams.RECEIVE_VECTOR);
  }

  private long receiveStream(IoVector vector, long param) {
    long ep = openForRequest(Feature.STREAM);
    long table = vector.writable();
    long out = worker.scratch;
    if (vector.count() == 0) {
      return worker.requests.received(0, RequestTable.STREAM_RECEIVE, null, 0, 0);
    }
    try {
      long answer =
          vector.lengthBytes() <= Native.CRITICAL_BYTES && worker.callsAreCritical()
              ? Ucp.streamRecvNbxCritical(ep, table, vector.count(), out, param)
              : Ucp.streamRecvNbx(ep, table, vector.count(), out, param);
      return worker.requests.received(
          answer, RequestTable.STREAM_RECEIVE, vector, answer == 0 ? Raw.word(out) : 0, 0);
    } finally {
      Reference.reachabilityFence(vector);
    }
  }

  // Active messages.

  /**
   * Sends an active message to a handler of the peer ({@code ucp_am_send_nbx}). A peer without a
   * handler of that id drops it.
   *
   * @param id which handler: {@link Worker#onMessage}
   * @param header native memory; the first {@code headerLength} bytes are the header
   * @param headerLength how many; at most {@link Worker#maxHeaderBytes}
   * @param buffer native memory with the data
   * @param offset where in it
   * @param length how many bytes; may be 0
   * @param flags {@link MessageFlags} and {@link SendFlags}, or 0
   * @return 0: header and buffer may be used again; a request: after it is done; or a negative
   *     status
   */
  public long sendMessage(
      int id,
      MemorySegment header,
      long headerLength,
      MemorySegment buffer,
      long offset,
      long length,
      int flags) {
    long ep = openForMessage(id, headerLength);
    long headerAddress = Native.readable(header, 0, headerLength);
    long address = Native.readable(buffer, offset, length);
    long param = RequestParams.message(flags, false);
    try {
      long answer =
          sendMessage(ep, id, headerAddress, headerLength, address, length, length, param);
      return answer == 0 ? 0 : worker.requests.posted(answer, header, buffer);
    } finally {
      Reference.reachabilityFence(header);
      Reference.reachabilityFence(buffer);
    }
  }

  /**
   * Sends an active message from several pieces of memory ({@code ucp_am_send_nbx} of {@code
   * ucp_dt_iov_t}).
   *
   * @param id which handler: {@link Worker#onMessage}
   * @param header native memory; the first {@code headerLength} bytes are the header
   * @param headerLength how many; at most {@link Worker#maxHeaderBytes}
   * @param vector the pieces with the data
   * @param flags {@link MessageFlags} and {@link SendFlags}, or 0
   * @return 0: header and pieces may be used again; a request: after it is done; or a negative
   *     status
   */
  public long sendMessage(
      int id, MemorySegment header, long headerLength, IoVector vector, int flags) {
    if (vector.count() == 0) {
      return sendMessage(id, header, headerLength, header, 0, 0, flags);
    }
    long ep = openForMessage(id, headerLength);
    long headerAddress = Native.readable(header, 0, headerLength);
    long table = vector.readable();
    long param = RequestParams.message(flags, true);
    try {
      long answer =
          sendMessage(
              ep,
              id,
              headerAddress,
              headerLength,
              table,
              vector.count(),
              vector.lengthBytes(),
              param);
      return answer == 0 ? 0 : worker.requests.posted(answer, header, vector);
    } finally {
      Reference.reachabilityFence(header);
      Reference.reachabilityFence(vector);
    }
  }

  private long openForMessage(int id, long headerLength) {
    long ep = openForRequest(Feature.ACTIVE_MESSAGE);
    if (id < 0 || id > MessageQueue.MAX_ID) {
      throw new IllegalArgumentException(
          "an active message's id is 0 to " + MessageQueue.MAX_ID + ": " + id);
    }
    if (headerLength > worker.maxHeaderBytes()) {
      throw new IllegalArgumentException(
          "a header of "
              + headerLength
              + " bytes; UCX sends at most "
              + worker.maxHeaderBytes()
              + ": put it into the data");
    }
    return ep;
  }

  private long sendMessage(
      long ep,
      int id,
      long header,
      long headerLength,
      long buffer,
      long count,
      long bytes,
      long param) {
    return bytes <= Native.CRITICAL_BYTES && worker.callsAreCritical()
        ? Ucp.amSendNbxCritical(ep, id, header, headerLength, buffer, count, param)
        : Ucp.amSendNbx(ep, id, header, headerLength, buffer, count, param);
  }

  // The peer's memory.

  /**
   * Opens a peer's memory region ({@code ucp_ep_rkey_unpack}).
   *
   * @param key what {@link MemoryRegion#pack} gave in the process that this endpoint leads to
   * @return the remote memory, to be closed; it goes with the endpoint otherwise
   * @throws UcxException if UCX refuses
   * @throws IllegalStateException if the context was opened for neither put and get nor atomics
   */
  public RemoteMemory unpack(RemoteKey key) {
    if (Collections.disjoint(worker.context().features(), REMOTE_FEATURES)) {
      throw new IllegalStateException(
          "the context was opened without any of the features " + REMOTE_FEATURES);
    }
    RemoteMemory memory = RemoteMemory.unpack(this, key, memories);
    memories = memory;
    return memory;
  }

  /** A remote memory is closed. */
  void forget(RemoteMemory memory) {
    memories = RemoteMemory.without(memories, memory);
  }

  // Queries.

  /**
   * The socket address of this side ({@code ucp_ep_query}), of endpoints made by socket address.
   *
   * @return an address
   * @throws UcxException if it has none
   */
  public InetSocketAddress localAddress() {
    return socketAddress(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR, EpAttr.LOCAL_SOCKADDR);
  }

  /**
   * The socket address of the peer ({@code ucp_ep_query}), of endpoints made by socket address.
   *
   * @return an address
   * @throws UcxException if it has none
   */
  public InetSocketAddress remoteAddress() {
    return socketAddress(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR, EpAttr.REMOTE_SOCKADDR);
  }

  private InetSocketAddress socketAddress(long field, long offset) {
    long ep = open();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(arena, EpAttr.STRUCT);
      attr.set(JAVA_LONG, EpAttr.FIELD_MASK, field);
      Status.check(Ucp.epQuery(ep, attr.address()), "ucp_ep_query");
      return SocketAddresses.fromNative(attr.asSlice(offset));
    }
  }

  /**
   * The transports in use, such as {@code posix/memory} or {@code rc_verbs/rxe0:1}: by {@code
   * ucp_ep_query} from UCX 1.14 on, before by reading what {@code ucp_ep_print_info} prints. They
   * may change until the two sides have found each other.
   *
   * @return transport and device, without repetition
   */
  public List<String> transports() {
    return Transports.of(open());
  }

  /**
   * How long UCX thinks that a message takes ({@code ucp_ep_evaluate_perf}).
   *
   * @param bytes how long it is
   * @return seconds
   */
  public double estimatedSeconds(long bytes) {
    long ep = open();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment param = Native.zeroed(arena, EpEvaluatePerfParam.STRUCT);
      param.set(JAVA_LONG, EpEvaluatePerfParam.FIELD_MASK, UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE);
      param.set(JAVA_LONG, EpEvaluatePerfParam.MESSAGE_SIZE, bytes);
      MemorySegment attr = Native.zeroed(arena, EpEvaluatePerfAttr.STRUCT);
      attr.set(JAVA_LONG, EpEvaluatePerfAttr.FIELD_MASK, UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME);
      Status.check(Ucp.epEvaluatePerf(ep, param.address(), attr.address()), "ucp_ep_evaluate_perf");
      return attr.get(JAVA_DOUBLE, EpEvaluatePerfAttr.ESTIMATED_TIME);
    }
  }

  /**
   * What UCX prints about the endpoint ({@code ucp_ep_print_info}).
   *
   * @return lines to be displayed
   */
  public String print() {
    long ep = open();
    return Libc.print(stream -> Ucp.epPrintInfo(ep, stream));
  }

  // Closing.

  /**
   * Begins to close after what was sent has left ({@code ucp_ep_close_nbx}). The endpoint is closed
   * for the program at once; chunks it holds are released. Without a living peer this may never be
   * over.
   *
   * @return 0, a request, or a negative status
   */
  public long closeFlushing() {
    return close(SendFlags.param(0));
  }

  /**
   * Begins to close without regard to the peer, which finds a failure ({@code ucp_ep_close_nbx}
   * with {@code UCP_EP_CLOSE_FLAG_FORCE}). Operations in progress end with {@link Status#CANCELED}.
   * While it {@link #mayOweReply}, it is closed as by {@link #closeFlushing} instead.
   *
   * @return 0, a request, or a negative status
   * @throws IllegalStateException if the endpoint does not handle errors
   */
  public long closeForced() {
    if (errorHandling == ErrorHandling.NONE) {
      throw new IllegalStateException(
          "an endpoint without error handling cannot be closed by force: " + name);
    }
    closedOwing = mayOweReply();
    return close(closedOwing ? SendFlags.param(0) : FORCE);
  }

  /**
   * Whether UCX may not have sent its reply to the peer's endpoint yet, because the peer's queue is
   * full. UCX before 1.14 ends the process if such an endpoint is closed by force, fails, or goes
   * with its worker. Only if the context has no feature but streams: by other operations an
   * endpoint does not learn that the peer has found it, and UCX would not bear a close that waits
   * for them.
   *
   * @return false once bytes of the peer's stream were received, or while nothing waits to be sent
   */
  public boolean mayOweReply() {
    long ep = open();
    if (heard
        || !Ucx.needsRepliesSent()
        || !worker.context().hasOnlyStreams()
        || EndpointTable.failed(cell)) {
      return false;
    }
    long answer = Ucp.epFlushNbx(ep, SendFlags.param(0));
    if (StatusPointer.isPointer(answer)) {
      Ucp.requestFree(answer); // UCX frees it when it is done
      return true;
    }
    return false;
  }

  /** Whether UCX still has an endpoint that was closed while it {@link #mayOweReply}. */
  boolean owesReply() {
    return closedOwing && !done;
  }

  private long close(long param) {
    open();
    worker.requests.reserve();
    long request = worker.requests.posted(leave(param), RequestTable.CLOSE, this);
    if (request > 0) {
      closeRequest = request;
    } else {
      closeCompleted();
    }
    return request;
  }

  /** Ends the endpoint for the program; gives what UCX answered to the close. */
  private long leave(long param) {
    long ep = open();
    StreamChunk chunk = held;
    while (chunk != null) {
      StreamChunk next = chunk.next();
      chunk.release();
      chunk = next;
    }
    while (memories != null) {
      memories.close();
    }
    handle = 0;
    return Ucp.epCloseNbx(ep, param);
  }

  /** UCX is done with the endpoint. */
  void closeCompleted() {
    if (!done) {
      done = true;
      worker.endpoints().remove(cell);
    }
  }

  /** The worker closes. */
  void beginClose() {
    if (handle == 0) {
      return;
    }
    closedOwing = mayOweReply();
    boolean force = errorHandling == ErrorHandling.PEER && !closedOwing;
    long param = force ? FORCE : SendFlags.param(0);
    if (worker.requests.hasRoom()) {
      long ignored = close(param);
    } else {
      // Not awaited: the program's requests are more than the table holds.
      long answer = leave(param);
      if (StatusPointer.isPointer(answer)) {
        Ucp.requestFree(answer);
      }
      if (!closedOwing) { // otherwise nothing tells when it is done
        closeCompleted();
      }
    }
  }

  /** The worker closes, and looks whether UCX is done with this one. */
  void pollClose() {
    if (!done && worker.requests.isHeld(closeRequest)) {
      worker.requests.status(closeRequest);
    }
  }

  /**
   * Closes: lets what was sent leave for up to a second, progressing the worker; then, if errors
   * are handled, by force. Does nothing if it is closed, or went with its worker.
   */
  @Override
  public void close() {
    if (handle == 0) {
      return;
    }
    worker.entered();
    if (errorHandling == ErrorHandling.PEER) {
      if (!EndpointTable.failed(cell)) {
        releaseAfter(flush());
      }
      // Unless a handler has closed it meanwhile, or the worker.
      if (handle != 0) {
        releaseAfter(closeForced());
      }
    } else {
      releaseAfter(closeFlushing());
    }
  }

  private void releaseAfter(long request) {
    int status = Status.IN_PROGRESS;
    try {
      status = worker.awaitWhileOpen(request, CLOSE_TIMEOUT_NS);
    } finally {
      // Nobody asks for it any more, also if a handler has thrown.
      if (status == Status.IN_PROGRESS && request > 0 && worker.isOpen()) {
        worker.release(request);
      }
    }
  }

  @Override
  public String toString() {
    return "Endpoint[" + name + (handle == 0 ? ", closed]" : "]");
  }
}
