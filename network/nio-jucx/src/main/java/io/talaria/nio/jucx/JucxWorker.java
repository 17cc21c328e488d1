// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.jdk.JdkPoll;
import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.Received;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointErrorHandler;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpRequestParams;
import org.openucx.jucx.ucp.UcpTagMessage;
import org.openucx.jucx.ucp.UcpWorker;

/** A worker of JUCX, and a lock. */
final class JucxWorker implements BoundWorker {
  /** UCX's number for «not now». */
  private static final int BUSY = -15;

  /** UCX's number for a message that is longer than its buffer. */
  private static final int TRUNCATED = -10;

  /** UCX looks for no end of an address: zeros follow, should it read on. */
  private static final int PADDING_BYTES = 1024;

  private static final long CLOSE_NS = 200_000_000;

  /** The receive that is posted fails, too, and tells. */
  private static final UcpEndpointErrorHandler FAILURES = (endpoint, status, message) -> {};

  private final JucxContext context;
  private final UcpWorker worker;
  private final ReentrantLock lock = new ReentrantLock();
  private final RequestTable requests = new RequestTable();
  private final BlockPool blocks = new BlockPool();
  private final ArrayDeque<JucxEndpoint> ready = new ArrayDeque<>();
  private final Set<JucxEndpoint> endpoints = new HashSet<>();

  /** Null if no thread may wait in UCX. */
  private final JdkPoll signalled;

  /** A message that was taken and is to be received. */
  private UcpTagMessage message;

  private boolean closed;

  JucxWorker(JucxContext context, UcpWorker worker) {
    this.context = context;
    this.worker = worker;
    signalled = context.onlyArmingTakesEvents ? new JdkPoll(worker.getEventFD()) : null;
  }

  /** What UCX has answered; negative. */
  static int status(UcxException e) {
    return Math.min(e.getStatus(), -1);
  }

  // ---- whose turn it is

  @Override
  public void enter() {
    lock.lock();
    begin();
  }

  @Override
  public boolean tryEnter() {
    if (!lock.tryLock()) {
      return false;
    }
    begin();
    return true;
  }

  private void begin() {
    if (closed) {
      lock.unlock();
      throw new IllegalStateException("the worker is closed");
    }
  }

  @Override
  public void exit() {
    lock.unlock();
  }

  @Override
  public boolean entered() {
    if (!lock.isHeldByCurrentThread()) {
      throw new IllegalStateException("the worker is shared: enter it first");
    }
    return true;
  }

  // ---- progress

  @Override
  public int progress() {
    int events;
    try {
      events = worker.progress();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) { // declared by JUCX, and thrown by call-backs, which ours do not
      throw new IllegalStateException("unexpected: " + e, e);
    }
    return events + ready.size(); // what was there already when a receive was posted is news, too
  }

  /** An endpoint has received. Inside a call-back. */
  void ready(JucxEndpoint endpoint) {
    if (!endpoint.listed) {
      ready.add(endpoint);
      endpoint.listed = true; // not before: memory may be short for the list
    }
  }

  @Override
  public int pollStreams(Object[] named) {
    int count = 0;
    while (count < named.length && !ready.isEmpty()) {
      JucxEndpoint endpoint = ready.poll();
      endpoint.listed = false;
      if (endpoint.isOpen()) {
        named[count++] = endpoint.attachment;
      }
    }
    return count;
  }

  /**
   * The signal that has woken a sleeper stays until a thread arms, and that thread is told «busy».
   * JUCX throws that, with a stack trace, at every sleep. UCX's own wait arms, too, and takes
   * «busy» for the end of its wait: so where that wait cannot block, it does the same without an
   * exception.
   */
  @Override
  public boolean arm() {
    if (!ready.isEmpty()) {
      return false;
    }
    try {
      if (signalled != null && signalled.readable()) {
        worker.waitForEvents();
        return false;
      }
      worker.arm();
      return true;
    } catch (UcxException e) {
      if (e.getStatus() != BUSY) {
        throw new BindingException(e.getMessage(), e);
      }
      return false;
    }
  }

  @Override
  public int eventDescriptor() {
    return worker.getEventFD();
  }

  // ---- endpoints

  @Override
  public byte[] address() {
    ByteBuffer address = worker.getAddress();
    byte[] bytes = new byte[address.remaining()];
    address.get(bytes);
    return bytes;
  }

  /** Takes direct memory before UCX has an endpoint, which nobody would close if that is short. */
  @Override
  public BoundEndpoint connect(byte[] address, Object attachment) {
    ByteBuffer there = ByteBuffer.allocateDirect(address.length + PADDING_BYTES).put(0, address);
    JucxBlock block = blocks.take(BlockPool.MIN_BYTES);
    UcpEndpoint made = null;
    boolean owned = false;
    try {
      made =
          worker.newEndpoint(
              new UcpEndpointParams()
                  .setUcpAddress(there)
                  .setPeerErrorHandlingMode()
                  .setErrorHandler(FAILURES));
      JucxEndpoint endpoint = new JucxEndpoint(this, made, attachment, block);
      endpoints.add(endpoint);
      owned = true;
      endpoint.post();
      return endpoint;
    } catch (UcxException e) {
      throw new BindingException(e.getMessage(), e);
    } finally {
      if (!owned) {
        if (made != null) {
          made.closeNonBlockingForce();
        }
        blocks.giveBack(block);
      }
    }
  }

  void forget(JucxEndpoint endpoint) {
    endpoints.remove(endpoint);
  }

  List<String> transports() {
    return context.transports;
  }

  UcpRequestParams inMainMemory() {
    return context.inMainMemory;
  }

  /** As {@link BlockPool#tryTake}. */
  JucxBlock tryTakeBlock(int bytes) {
    return blocks.tryTake(bytes);
  }

  void giveBack(JucxBlock block) {
    blocks.giveBack(block);
  }

  @Override
  public Received newReceived() {
    return new JucxReceived();
  }

  // ---- messages

  @Override
  public boolean hasMessage() {
    if (message == null) {
      message = worker.tagProbeNonBlocking(0, 0, true);
    }
    return message != null;
  }

  /**
   * Tag and length are the message's: a receive that is done at once does not have them. A long
   * message that does not fit ends inside the call; JUCX then deletes its reference to the request
   * before it uses it, and throws. If another thread has got that reference meanwhile, it does not,
   * and what it does is done to another object. A message that is not received stays in UCX until
   * the worker is closed, so each is received all the same: only hostile peers send such.
   */
  @Override
  public long receiveTag(Block block, int length) {
    requests.reserve();
    UcpTagMessage taken = message;
    message = null;
    try {
      UcpRequest request =
          worker.recvTaggedMessageNonBlocking(
              ((JucxBlock) block).address, length, taken, null, context.inMainMemory);
      return requests.put(request, block, taken.getRecvLength(), taken.getSenderTag());
    } catch (UcxException e) {
      return status(e);
    } catch (NullPointerException e) { // it was cut off inside the call, which JUCX takes badly
      return TRUNCATED;
    }
  }

  // ---- requests

  RequestTable requests() {
    return requests;
  }

  @Override
  public int status(long request) {
    return requests.status(request);
  }

  @Override
  public long receivedBytes(long request) {
    return requests.status(request) == OK ? requests.length(request) : 0;
  }

  @Override
  public long receivedTag(long request) {
    return requests.status(request) == OK ? requests.tag(request) : 0;
  }

  @Override
  public void release(long request) {
    requests.release(request);
  }

  @Override
  public int poll(long request) {
    int status = requests.status(request);
    if (status != IN_PROGRESS) {
      Object kept = requests.kept(request);
      requests.release(request);
      if (kept instanceof JucxEndpoint) {
        ((JucxEndpoint) kept).closed();
      }
    }
    return status;
  }

  @Override
  public long flush() {
    requests.reserve();
    try {
      return requests.posted(worker.flushNonBlocking(null), null);
    } catch (UcxException e) {
      return status(e);
    }
  }

  // ---- closing

  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        for (JucxEndpoint endpoint : List.copyOf(endpoints)) {
          if (endpoint.isOpen()) {
            endpoint.closeForced();
          }
        }
        long start = System.nanoTime();
        int quiet = 0;
        while (quiet < 100 && System.nanoTime() - start < CLOSE_NS) {
          quiet = progress() == 0 ? quiet + 1 : 0;
          ready.clear();
        }
        closed = true;
        worker.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
