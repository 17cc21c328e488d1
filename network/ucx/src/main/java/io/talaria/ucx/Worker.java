// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_REQUEST_ATTR_FIELD_INFO_STRING;
import static io.talaria.ucx.binding.UcpConstants.UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_ATTR_FIELD_THREAD_MODE;
import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_PARAM_FIELD_CLIENT_ID;
import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_PARAM_FIELD_FLAGS;
import static io.talaria.ucx.binding.UcpConstants.UCP_WORKER_PARAM_FIELD_THREAD_MODE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NumberLocale;
import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.RequestAttr;
import io.talaria.ucx.binding.UcpStructs.StreamPollEp;
import io.talaria.ucx.binding.UcpStructs.TagRecvInfo;
import io.talaria.ucx.binding.UcpStructs.WorkerAttr;
import io.talaria.ucx.binding.UcpStructs.WorkerParams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The engine of UCX ({@code ucp_worker_h}): what makes operations proceed, and where the endpoints
 * live. Owns its endpoints, listeners and requests; closing it closes them.
 *
 * <p>Threads: of {@link ThreadMode#SINGLE} only the thread that opened it; of {@link
 * ThreadMode#SERIALIZED} whichever thread is between {@link #enter} and {@link #exit}. The same
 * holds for the endpoints, listeners and chunks of the worker. Any other use throws {@link
 * IllegalStateException}. Only {@link #signal}, {@link #enter}, {@link #tryEnter} and the queries
 * that say so are for any thread at any time.
 *
 * <p>Nothing happens by itself: operations proceed, connections are made and failures are found
 * inside {@link #progress}. The calls of the data path neither block nor allocate.
 *
 * <p>An operation that is not done at once gives a <em>request</em>: a number greater than 1, valid
 * until {@link #poll} has answered its outcome or {@link #release} was called. Requests of another
 * worker, or such as are no longer valid, throw {@link IllegalArgumentException}. The buffer of an
 * operation belongs to UCX until its request is done: its arena must not be closed before.
 */
public final class Worker implements AutoCloseable {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private static final int POLL_MAX = 64;

  /** Room for out-parameters: 64 bytes, then what stream polls fill. */
  private static final long SCRATCH_BYTES = 64 + POLL_MAX * StreamPollEp.SIZE;

  private static final long CLOSE_NS = 200_000_000;

  /** While progress finds something to do, the clock is looked at when these bits are 0. */
  private static final int BUSY_MASK = 0x3f;

  private static final long DESCRIPTION_BYTES = 512;

  /**
   * Receives by tag always give a request, which knows the length of what came: of a short message
   * that is there already UCX 1.13 completes the receive at once and does not report its length,
   * neither by a request nor where {@code recv_info} points.
   */
  private static final long RECEIVE = SendFlags.param(SendFlags.ALWAYS_REQUEST);

  /** The same for a vector. */
  private static final long RECEIVE_VECTOR = RequestParams.vector(SendFlags.ALWAYS_REQUEST);

  /** For a message that was taken: its length is known. */
  private static final long RECEIVE_TAKEN = SendFlags.param(0);

  /**
   * When these bits of the count of progress calls are 0, the call is a plain one. The compiler
   * takes a native call for a safepoint and removes the loop's own; but a critical call is none, so
   * a thread that does nothing else would stop the whole JVM at its next collection.
   */
  private static final int CRITICAL_MASK = 0xff;

  final RequestTable requests;
  final long scratch;

  private final Context context;
  private final long handle;

  private final ThreadMode mode;
  private final long maxHeaderBytes;
  private final ReentrantLock guard;
  private final EndpointTable endpoints = new EndpointTable();
  private final List<Listener> listeners = new ArrayList<>();
  private final Arena arena = Arena.ofAuto();
  private final Object signalLock = new Object();

  /** Plain: only the thread itself can have put itself here, and sees what it has put. */
  private Thread owner;

  private int upcalls;

  /** See {@link #CRITICAL_MASK}. */
  private int progressCount;

  /** Null as long as no handler was set. */
  private MessageQueue messages;

  private int descriptor = -1;

  /** Written by the owner under {@link #signalLock}. */
  private volatile boolean closed;

  private Worker(Context context, long handle, Options options) {
    this.context = context;
    this.handle = handle;
    guard = options.mode == ThreadMode.SERIALIZED ? new ReentrantLock() : null;
    owner = guard == null ? Thread.currentThread() : null;
    scratch = arena.allocate(SCRATCH_BYTES, 64).address();
    requests = new RequestTable(COUNT.getAndIncrement() & Integer.MAX_VALUE, scratch);
    try (Arena temporary = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(temporary, WorkerAttr.STRUCT);
      attr.set(
          JAVA_LONG,
          WorkerAttr.FIELD_MASK,
          UCP_WORKER_ATTR_FIELD_THREAD_MODE | UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER);
      Status.check(Ucp.workerQuery(handle, attr.address()), "ucp_worker_query");
      mode = ThreadMode.of(attr.get(JAVA_INT, WorkerAttr.THREAD_MODE));
      maxHeaderBytes = attr.get(JAVA_LONG, WorkerAttr.MAX_AM_HEADER);
    }
  }

  /** How a worker is opened. Immutable. */
  public static final class Options {
    private static final Options DEFAULTS = new Options(ThreadMode.SINGLE, 0);

    private final ThreadMode mode;
    private final long clientId;

    private Options(ThreadMode mode, long clientId) {
      this.mode = mode;
      this.clientId = clientId;
    }

    /**
     * For the thread that opens it.
     *
     * @return options
     */
    public static Options defaults() {
      return DEFAULTS;
    }

    /**
     * Which threads will use it.
     *
     * @param wanted {@link ThreadMode#SINGLE} or {@link ThreadMode#SERIALIZED}
     * @return changed options
     */
    public Options threads(ThreadMode wanted) {
      if (wanted == ThreadMode.MULTI) {
        throw new IllegalArgumentException(
            "a worker is not for many threads at once: open it SERIALIZED and take turns by enter"
                + " and exit");
      }
      return new Options(wanted, clientId);
    }

    /**
     * What listeners learn of this worker's endpoints that ask for it.
     *
     * @param id a number other than 0
     * @return changed options
     */
    public Options clientId(long id) {
      return new Options(mode, id);
    }
  }

  /**
   * Opens a worker ({@code ucp_worker_create}). Takes milliseconds, megabytes and some descriptors:
   * a program wants few.
   *
   * @param context where it belongs
   * @param options for which threads
   * @return a worker, to be closed
   * @throws UcxException if UCX refuses
   */
  public static Worker open(Context context, Options options) {
    long parent = context.adopt();
    try {
      long handle = NumberLocale.call(() -> create(parent, options));
      try {
        return new Worker(context, handle, options);
      } catch (RuntimeException | Error e) {
        Ucp.workerDestroy(handle);
        throw e;
      }
    } catch (RuntimeException | Error e) {
      context.disown();
      throw e;
    }
  }

  private static long create(long context, Options options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      MemorySegment params = Native.zeroed(arena, WorkerParams.STRUCT);
      long mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS;
      params.set(JAVA_INT, WorkerParams.THREAD_MODE, options.mode.code());
      params.set(JAVA_LONG, WorkerParams.FLAGS, UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK);
      if (options.clientId != 0) {
        mask |= UCP_WORKER_PARAM_FIELD_CLIENT_ID;
        params.set(JAVA_LONG, WorkerParams.CLIENT_ID, options.clientId);
      }
      params.set(JAVA_LONG, WorkerParams.FIELD_MASK, mask);
      Status.check(Ucp.workerCreate(context, params.address(), out.address()), "ucp_worker_create");
      return out.get(JAVA_LONG, 0);
    }
  }

  /**
   * The context it belongs to. Any thread.
   *
   * @return the context
   */
  public Context context() {
    return context;
  }

  /**
   * The thread mode that UCX granted ({@code ucp_worker_query}). Any thread.
   *
   * @return a mode
   */
  public ThreadMode threadMode() {
    return mode;
  }

  // Whose turn it is.

  /**
   * Begins a turn of this thread with a {@link ThreadMode#SERIALIZED} worker; waits while another
   * has it. May be nested.
   */
  public void enter() {
    guard().lock();
    begin();
  }

  /**
   * Begins a turn unless another thread has it.
   *
   * @return whether the turn has begun
   */
  public boolean tryEnter() {
    if (!guard().tryLock()) {
      return false;
    }
    begin();
    return true;
  }

  /** Ends a turn that {@link #enter} or {@link #tryEnter} began. */
  public void exit() {
    ReentrantLock held = guard();
    int count = held.getHoldCount();
    if (count == 0) {
      throw new IllegalStateException(
          "the worker was not entered by this thread: " + Thread.currentThread());
    }
    if (count == 1) {
      owner = null;
    }
    held.unlock();
  }

  private ReentrantLock guard() {
    if (guard == null) {
      throw new IllegalStateException("the worker is for one thread: it knows no turns");
    }
    return guard;
  }

  private void begin() {
    if (closed) {
      guard.unlock();
      throw new IllegalStateException("the worker is closed");
    }
    owner = Thread.currentThread();
  }

  /** Throws unless the calling thread may use the worker now; gives its handle. */
  long entered() {
    if (Thread.currentThread() != owner) {
      throw trespass();
    }
    return handle;
  }

  /** The same, if the context was opened for something. */
  long entered(Feature feature) {
    context.require(feature);
    return entered();
  }

  /** The same, for a call that may give a request. */
  private long enteredForRequest(Feature feature) {
    long worker = entered(feature);
    requests.reserve();
    return worker;
  }

  private IllegalStateException trespass() {
    if (closed) {
      return new IllegalStateException("the worker is closed");
    }
    return new IllegalStateException(
        guard == null
            ? "the worker is for the thread that opened it, not for " + Thread.currentThread()
            : "the worker is shared: enter it first, " + Thread.currentThread());
  }

  /** Whether no Java function is registered, so that UCX cannot call back. */
  boolean callsAreCritical() {
    return upcalls == 0;
  }

  /** A Java function is registered from now on: no call may be critical. */
  void addUpcall() {
    upcalls++;
  }

  /** A Java function is gone. */
  void removeUpcall() {
    upcalls--;
  }

  // Progress.

  /**
   * Makes operations proceed ({@code ucp_worker_progress}), then calls the handlers of the active
   * messages that have come; what those throw comes out. Does not block.
   *
   * @return 0 if nothing was to do
   */
  public int progress() {
    long worker = entered();
    return upcalls == 0 && messages == null && (++progressCount & CRITICAL_MASK) != 0
        ? Ucp.workerProgressCritical(worker)
        : progressAndDeliver(worker);
  }

  private int progressAndDeliver(long worker) {
    int done = Ucp.workerProgress(worker);
    return messages == null ? done : done + messages.deliver();
  }

  /**
   * Orders what was sent before against what will be sent after ({@code ucp_worker_fence}).
   *
   * @throws UcxException if UCX refuses
   */
  public void fence() {
    Status.check(Ucp.workerFence(entered()), "ucp_worker_fence");
  }

  /**
   * Completes when all that was sent on all endpoints has arrived ({@code ucp_worker_flush_nbx}).
   *
   * @return 0, a request, or a negative status
   */
  public long flush() {
    long worker = entered();
    requests.reserve();
    long param = SendFlags.param(0);
    return requests.posted(Ucp.workerFlushNbx(worker, param), RequestTable.SEND, null);
  }

  // Requests.

  /**
   * How an operation stands ({@code ucp_request_check_status}).
   *
   * @param request what the operation gave
   * @return {@link Status#IN_PROGRESS}, {@link Status#OK}, or a negative status
   */
  public int status(long request) {
    entered();
    return requests.status(request);
  }

  /**
   * How an operation stands; if it is over, the request is released.
   *
   * @param request what the operation gave
   * @return {@link Status#IN_PROGRESS}, {@link Status#OK}, or a negative status
   */
  public int poll(long request) {
    entered();
    return requests.poll(request);
  }

  /**
   * Progresses until an operation is over, and releases its request. For set-up and tests: does not
   * sleep meanwhile.
   *
   * @param request what the operation gave; 0 and negative numbers are answered as they are
   * @param timeoutNs how long at most
   * @return the outcome, or {@link Status#IN_PROGRESS} if time is over
   */
  public int await(long request, long timeoutNs) {
    int status = awaitWhileOpen(request, timeoutNs);
    if (status == Status.IN_PROGRESS) {
      entered(); // throws if a handler has closed the worker
    }
    return status;
  }

  /** The same; answers {@link Status#IN_PROGRESS} if a handler has closed the worker, too. */
  int awaitWhileOpen(long request, long timeoutNs) {
    if (request <= 0) {
      return (int) request;
    }
    long start = System.nanoTime();
    int rounds = 0;
    int status;
    while ((status = poll(request)) == Status.IN_PROGRESS) {
      boolean idle = progress() == 0;
      // Others' traffic may never leave a round without progress.
      boolean look = idle || (++rounds & BUSY_MASK) == 0;
      if (closed || (look && System.nanoTime() - start > timeoutNs)) {
        return Status.IN_PROGRESS;
      }
    }
    return status;
  }

  /**
   * How many bytes a receive has got.
   *
   * @param request of a receive that {@link #status} has said to be over
   * @return a number of bytes; 0 if it failed
   */
  public long receivedBytes(long request) {
    entered();
    return requests.length(request);
  }

  /**
   * The tag of the message that a receive has got.
   *
   * @param request of a receive by tag that {@link #status} has said to be over
   * @return a tag, of a message that was truncated or has failed, too; 0 if it was cancelled
   */
  public long receivedTag(long request) {
    entered();
    return requests.tag(request);
  }

  /**
   * What the place was that an atomic with fetching has changed.
   *
   * @param request of such an atomic that {@link #status} has said to be over
   * @return the former value, an int being sign-extended; 0 if it failed
   */
  public long fetched(long request) {
    entered();
    return requests.fetched(request);
  }

  /**
   * What UCX says about an operation in progress ({@code ucp_request_query}).
   *
   * @param request what the operation gave
   * @return words for people; the words of its status if it is over
   */
  public String describe(long request) {
    int status = status(request);
    if (status != Status.IN_PROGRESS) {
      return Status.text(status);
    }
    try (Arena temporary = Arena.ofConfined()) {
      MemorySegment text = temporary.allocate(DESCRIPTION_BYTES);
      MemorySegment attr = Native.zeroed(temporary, RequestAttr.STRUCT);
      attr.set(
          JAVA_LONG,
          RequestAttr.FIELD_MASK,
          UCP_REQUEST_ATTR_FIELD_INFO_STRING | UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE);
      attr.set(JAVA_LONG, RequestAttr.DEBUG_STRING, text.address());
      attr.set(JAVA_LONG, RequestAttr.DEBUG_STRING_SIZE, DESCRIPTION_BYTES);
      Status.check(
          Ucp.requestQuery(requests.pointer(request), attr.address()), "ucp_request_query");
      return text.getString(0);
    }
  }

  /**
   * Asks UCX to give a receive up ({@code ucp_request_cancel}). Receives by tag can be; receives of
   * a stream end when the endpoint is closed. Sends, puts and atomics are left alone, as cancelling
   * them corrupts UCX 1.13: they end as they end. The request is over when its status says so.
   *
   * @param request what the operation gave
   */
  public void cancel(long request) {
    long worker = entered();
    requests.cancel(worker, request);
  }

  /**
   * Forgets a request ({@code ucp_request_free}). The operation itself continues if it is not over,
   * and needs its buffer until then: an arena that the collector closes is kept open for it.
   *
   * @param request what the operation gave
   */
  public void release(long request) {
    entered();
    requests.release(request);
  }

  /**
   * How many requests have not been released.
   *
   * @return a number
   */
  public int requestsHeld() {
    entered();
    return requests.inFlight();
  }

  // Endpoints.

  /**
   * How others reach this worker ({@code ucp_worker_get_address}).
   *
   * @return an address
   */
  public WorkerAddress address() {
    long worker = entered();
    try (Arena temporary = Arena.ofConfined()) {
      MemorySegment out = temporary.allocate(JAVA_LONG, 2);
      Status.check(
          Ucp.workerGetAddress(worker, out.address(), out.address() + 8), "ucp_worker_get_address");
      long address = out.getAtIndex(JAVA_LONG, 0);
      byte[] raw = new byte[Math.toIntExact(out.getAtIndex(JAVA_LONG, 1))];
      Raw.copy(address, raw, 0, raw.length);
      Ucp.workerReleaseAddress(worker, address);
      return WorkerAddress.ofRaw(raw);
    }
  }

  /**
   * Opens an endpoint ({@code ucp_ep_create}). It may be used at once: what is sent before the two
   * sides have found each other waits.
   *
   * @param options which peer to reach, and how
   * @return an endpoint of this worker, to be closed
   * @throws UcxException if UCX refuses
   */
  public Endpoint connect(Endpoint.Options options) {
    entered();
    return Endpoint.create(this, options);
  }

  /**
   * Accepts a client of a listener, whichever worker of the same context that belongs to.
   *
   * @param request who asks; it is used up, also if this fails
   * @param options how; they name no peer
   * @return an endpoint of this worker, to be closed
   * @throws UcxException if UCX refuses
   */
  public Endpoint accept(ConnectionRequest request, Endpoint.Options options) {
    entered();
    return request.accept(this, options);
  }

  /**
   * Listens for clients that connect to a socket address ({@code ucp_listener_create}).
   *
   * @param address where; port 0 takes any
   * @return a listener of this worker, to be closed
   * @throws UcxException if UCX refuses
   */
  public Listener listen(InetSocketAddress address) {
    entered();
    return Listener.create(this, address);
  }

  /**
   * Names endpoints that have received bytes which the program has not read ({@code
   * ucp_stream_worker_poll}). An endpoint is named once; its bytes are then to be read until there
   * are none.
   *
   * @param ready where to put them
   * @return how many were put
   */
  public int pollStreams(Endpoint[] ready) {
    long worker = entered(Feature.STREAM);
    int max = Math.min(ready.length, POLL_MAX);
    long polled = scratch + 64;
    long count =
        upcalls == 0
            ? Ucp.streamWorkerPollCritical(worker, polled, max, 0)
            : Ucp.streamWorkerPoll(worker, polled, max, 0);
    return count == 0 ? 0 : take(ready, polled, (int) count);
  }

  private int take(Endpoint[] ready, long polled, int count) {
    if (count < 0) {
      throw new UcxException(count, "ucp_stream_worker_poll");
    }
    int taken = 0;
    for (int i = 0; i < count; i++) {
      Endpoint endpoint =
          endpoints.of(Raw.word(polled + i * StreamPollEp.SIZE + StreamPollEp.USER_DATA));
      if (endpoint != null && endpoint.isOpen()) {
        ready[taken++] = endpoint;
      }
    }
    return taken;
  }

  /**
   * Finds endpoints that have failed and are not closed yet. Looks at each endpoint: to be called
   * now and then.
   *
   * @param failed where to put them
   * @return how many were put
   */
  public int pollFailures(Endpoint[] failed) {
    entered();
    return endpoints.failed(failed);
  }

  // Messages by tag.

  /**
   * Receives a message whose tag matches ({@code ucp_tag_recv_nbx}): tag and mask give the bits
   * that must be equal. Receives are matched in the order of their calls.
   *
   * @param buffer native memory; UCX's until the request is done
   * @param offset where in it
   * @param length how much at most; a longer message ends as {@link Status#MESSAGE_TRUNCATED}
   * @param tag the bits wanted
   * @param mask which bits of the tag matter
   * @return a request, done or not, whose {@link #receivedBytes} and {@link #receivedTag} tell what
   *     came; or a negative status
   */
  public long receiveTag(MemorySegment buffer, long offset, long length, long tag, long mask) {
    long worker = enteredForRequest(Feature.TAG);
    long address = Native.writable(buffer, offset, length);
    try {
      long answer =
          length <= Native.CRITICAL_BYTES && upcalls == 0
              ? Ucp.tagRecvNbxCritical(worker, address, length, tag, mask, RECEIVE)
              : Ucp.tagRecvNbx(worker, address, length, tag, mask, RECEIVE);
      return requests.received(answer, RequestTable.TAG_RECEIVE, buffer, 0, 0);
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  /**
   * Looks whether a message has arrived whose tag matches, and leaves it where it is ({@code
   * ucp_tag_probe_nb}).
   *
   * @param tag the bits wanted
   * @param mask which bits of the tag matter
   * @return its length, or {@link Status#NO_MESSAGE}
   */
  public long probeTag(long tag, long mask) {
    return probe(tag, mask, 0) == 0 ? Status.NO_MESSAGE : Raw.word(scratch + TagRecvInfo.LENGTH);
  }

  /**
   * Looks whether a message has arrived whose tag matches, and takes it: no other receive will get
   * it ({@code ucp_tag_probe_nb} with removal). It must then be received.
   *
   * @param tag the bits wanted
   * @param mask which bits of the tag matter
   * @param message where to put it; it must hold none
   * @return its length, or {@link Status#NO_MESSAGE}
   */
  public long probeTag(long tag, long mask, TagMessage message) {
    message.requireEmpty();
    long handle = probe(tag, mask, 1);
    if (handle == 0) {
      return Status.NO_MESSAGE;
    }
    long length = Raw.word(scratch + TagRecvInfo.LENGTH);
    message.hold(this, handle, Raw.word(scratch + TagRecvInfo.SENDER_TAG), length);
    return length;
  }

  private long probe(long tag, long mask, int remove) {
    long worker = entered(Feature.TAG);
    return upcalls == 0
        ? Ucp.tagProbeNbCritical(worker, tag, mask, remove, scratch)
        : Ucp.tagProbeNb(worker, tag, mask, remove, scratch);
  }

  /**
   * Receives a message that was taken ({@code ucp_tag_msg_recv_nbx}).
   *
   * @param message what {@link #probeTag(long, long, TagMessage)} has taken; empty afterwards
   * @param buffer native memory with room for all of it; UCX's until the request is done
   * @param offset where in it
   * @return a request, done or not; or a negative status
   */
  public long receiveTag(TagMessage message, MemorySegment buffer, long offset) {
    long worker = enteredForRequest(Feature.TAG);
    message.requirePresent(this);
    long length = message.length();
    long address = Native.writable(buffer, offset, length);
    long handle = message.take();
    try {
      long answer =
          length <= Native.CRITICAL_BYTES && upcalls == 0
              ? Ucp.tagMsgRecvNbxCritical(worker, address, length, handle, RECEIVE_TAKEN)
              : Ucp.tagMsgRecvNbx(worker, address, length, handle, RECEIVE_TAKEN);
      return requests.received(answer, RequestTable.TAG_RECEIVE, buffer, length, message.tag());
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  /**
   * Receives a message into several pieces of memory ({@code ucp_tag_recv_nbx} of {@code
   * ucp_dt_iov_t}).
   *
   * @param vector the pieces; UCX's until the request is done
   * @param tag the bits wanted
   * @param mask which bits of the tag matter
   * @return a request, done or not, whose {@link #receivedBytes} and {@link #receivedTag} tell what
   *     came; or a negative status
   */
  public long receiveTag(IoVector vector, long tag, long mask) {
    long worker = enteredForRequest(Feature.TAG);
    long table = vector.writable();
    long param = vector.count() == 0 ? RECEIVE : RECEIVE_VECTOR;
    try {
      long answer =
          vector.lengthBytes() <= Native.CRITICAL_BYTES && upcalls == 0
              ? Ucp.tagRecvNbxCritical(worker, table, vector.count(), tag, mask, param)
              : Ucp.tagRecvNbx(worker, table, vector.count(), tag, mask, param);
      return requests.received(answer, RequestTable.TAG_RECEIVE, vector, 0, 0);
    } finally {
      Reference.reachabilityFence(vector);
    }
  }

  // Active messages.

  /**
   * Says what to do with the active messages of an id ({@code ucp_worker_set_am_recv_handler}). As
   * long as there is a handler, calls on the worker take some nanoseconds longer, because UCX calls
   * into Java.
   *
   * @param id 0 to 65535; small ones, as UCX makes a table
   * @param handler what {@link #progress} calls, instead of the one before; null: drop them
   * @throws UcxException if UCX refuses
   */
  public void onMessage(int id, ActiveMessageHandler handler) {
    long worker = entered(Feature.ACTIVE_MESSAGE);
    if (messages == null) {
      messages = new MessageQueue(this);
    }
    boolean was = messages.isSet();
    // From before UCX knows of it.
    upcalls += was ? 0 : 1;
    try {
      messages.set(worker, id, handler);
    } finally {
      upcalls -= messages.isSet() ? 0 : 1;
    }
  }

  /**
   * How long the header of an active message may be at most ({@code ucp_worker_query}).
   *
   * @return a number of bytes
   */
  public long maxHeaderBytes() {
    return maxHeaderBytes;
  }

  MessageQueue messages() {
    return messages;
  }

  private boolean messagesWait() {
    return messages != null && !messages.isEmpty();
  }

  /** Asks for the data of a rendezvous; the caller has reserved a slot. */
  long receiveMessage(long descriptor, long address, long length, MemorySegment buffer) {
    return receiveMessage(descriptor, address, length, SendFlags.param(0), buffer, length);
  }

  /** Asks for the data of a rendezvous, into pieces; the caller has reserved a slot. */
  long receiveMessage(long descriptor, IoVector vector, long length) {
    long table = vector.writable();
    long param = RequestParams.RECEIVE_VECTOR;
    return receiveMessage(descriptor, table, vector.count(), param, vector, length);
  }

  private long receiveMessage(
      long descriptor, long address, long count, long param, Object keep, long length) {
    long worker = entered();
    try {
      long answer = Ucp.amRecvDataNbx(worker, descriptor, address, count, param);
      return requests.received(answer, RequestTable.MESSAGE_RECEIVE, keep, length, 0);
    } finally {
      Reference.reachabilityFence(keep);
    }
  }

  EndpointTable endpoints() {
    return endpoints;
  }

  void add(Listener listener) {
    listeners.add(listener);
    addUpcall();
  }

  void remove(Listener listener) {
    if (listeners.remove(listener)) {
      removeUpcall();
    }
  }

  // Sleeping.

  /**
   * A descriptor that is readable when there is something to progress ({@code ucp_worker_get_efd});
   * for poll and epoll. It belongs to the worker. Before sleeping on it, {@link #arm} must have
   * answered true.
   *
   * @return a file descriptor
   * @throws IllegalStateException if the context was opened without {@link Feature#WAKEUP}
   */
  public int eventDescriptor() {
    long worker = entered(Feature.WAKEUP);
    if (descriptor < 0) {
      Status.check(Ucp.workerGetEfd(worker, scratch), "ucp_worker_get_efd");
      descriptor = Raw.half(scratch);
    }
    return descriptor;
  }

  /**
   * Announces sleep ({@code ucp_worker_arm}).
   *
   * @return true: one may sleep on the descriptor; false: there is something to progress first
   */
  public boolean arm() {
    long worker = entered(Feature.WAKEUP);
    if (messagesWait()) {
      return false;
    }
    int status = Ucp.workerArm(worker);
    if (status != Status.OK && status != Status.BUSY) {
      throw new UcxException(status, "ucp_worker_arm");
    }
    return status == Status.OK;
  }

  /**
   * Arms, and sleeps until there is something to progress, a thread calls {@link #signal}, or time
   * is over. The turn with a shared worker is kept meanwhile.
   *
   * @param timeoutMs how long at most; negative: without limit
   * @return whether there may be something to progress
   */
  public boolean awaitEvent(int timeoutMs) {
    return !arm() || Libc.awaitReadable(eventDescriptor(), timeoutMs);
  }

  /**
   * Sleeps until there is something to progress or a thread calls {@link #signal} ({@code
   * ucp_worker_wait}). Without limit, and deaf to interrupts.
   */
  public void awaitEvent() {
    long worker = entered(Feature.WAKEUP);
    if (!messagesWait()) {
      Status.check(Ucp.workerWait(worker), "ucp_worker_wait");
    }
  }

  /**
   * Wakes the thread that sleeps on the worker ({@code ucp_worker_signal}). Any thread; does
   * nothing if the worker is closed.
   */
  public void signal() {
    context.require(Feature.WAKEUP);
    synchronized (signalLock) {
      if (!closed) {
        Status.check(Ucp.workerSignal(handle), "ucp_worker_signal");
      }
    }
  }

  /**
   * What UCX prints about the worker ({@code ucp_worker_print_info}).
   *
   * @return lines for people
   */
  public String print() {
    long worker = entered();
    return Libc.print(stream -> Ucp.workerPrintInfo(worker, stream));
  }

  /**
   * Whether the worker is open. Any thread.
   *
   * @return whether it is
   */
  public boolean isOpen() {
    return !closed;
  }

  /**
   * Closes the worker with its endpoints (by force where they handle errors) and listeners, and
   * forgets its requests ({@code ucp_worker_destroy}). A shared worker must have been entered, or
   * is entered for the purpose; it is left entered as often as it was. Does nothing if it is
   * closed.
   *
   * <p>If an endpoint {@linkplain Endpoint#mayOweReply may owe its peer a reply} to the end, which
   * takes a peer that is stopped or dead, UCX keeps the worker and its context until the process
   * ends.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (guard == null || guard.isHeldByCurrentThread()) {
      closeEntered();
    } else {
      guard.lock();
      try {
        if (!closed) {
          owner = Thread.currentThread();
          closeEntered();
        }
      } finally {
        guard.unlock();
      }
    }
  }

  private void closeEntered() {
    long worker = entered();
    for (Listener listener : List.copyOf(listeners)) {
      listener.close();
    }
    long start = System.nanoTime();
    for (Endpoint endpoint : endpoints.all()) {
      endpoint.beginClose();
    }
    while (endpoints.all().length > 0 && System.nanoTime() - start < CLOSE_NS) {
      Ucp.workerProgress(worker);
      requests.reap();
      for (Endpoint endpoint : endpoints.all()) {
        endpoint.pollClose();
      }
    }
    boolean left = false;
    for (Endpoint endpoint : endpoints.all()) {
      left |= endpoint.owesReply();
    }
    if (messages != null) {
      messages.close(worker);
    }
    requests.releaseAll(worker);
    synchronized (signalLock) {
      closed = true;
    }
    owner = null;
    if (left) {
      context.disownLeft();
    } else {
      Ucp.workerDestroy(worker);
      context.disown();
    }
  }
}
