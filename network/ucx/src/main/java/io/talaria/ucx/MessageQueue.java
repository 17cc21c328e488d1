// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_AM_FLAG_PERSISTENT_DATA;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_ARG;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_CB;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_HANDLER_PARAM_FIELD_ID;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_RECV_ATTR_FLAG_DATA;
import static io.talaria.ucx.binding.UcpConstants.UCP_AM_RECV_ATTR_FLAG_RNDV;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.AmHandlerParam;
import io.talaria.ucx.binding.UcpStructs.AmRecvParam;
import io.talaria.ucx.binding.UcpUpcalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The active messages of one worker. What UCX calls into only copies the header and queues; the
 * program's handlers are called when progress has left UCX. Confined to the thread that uses the
 * worker. Grows with what is queued; otherwise allocates nothing.
 */
final class MessageQueue {
  /** Larger ids would have UCX make a larger table of handlers. */
  static final int MAX_ID = 0xffff;

  private static final int INITIAL = 16;
  private static final byte DONE = (byte) Status.OK;
  private static final byte KEPT = (byte) Status.IN_PROGRESS;

  private final Worker worker;
  private final Arena arena = Arena.ofAuto();
  private final long stub;
  private ActiveMessageHandler[] handlers = new ActiveMessageHandler[0];
  private int handlerCount;

  /** A ring; messages that are not queued are free, above {@link #size}. */
  private ActiveMessage[] ring = new ActiveMessage[INITIAL];

  private int head;
  private int size;

  /** What a handler is looking at; not in the ring. */
  private ActiveMessage current = new ActiveMessage(true);

  private boolean delivering;

  /** The messages that the program holds, linked. */
  private ActiveMessage held;

  MessageQueue(Worker worker) {
    this.worker = worker;
    Arrays.setAll(ring, i -> new ActiveMessage(true));
    stub = UcpUpcalls.activeMessage(this::received, arena);
  }

  /** Whether UCX may call into Java. */
  boolean isSet() {
    return handlerCount > 0;
  }

  /** Sets or removes a handler. */
  void set(long handle, int id, ActiveMessageHandler handler) {
    if (id < 0 || id > MAX_ID) {
      throw new IllegalArgumentException("an active message's id is 0 to " + MAX_ID + ": " + id);
    }
    if (id >= handlers.length) {
      handlers = Arrays.copyOf(handlers, id + 1);
    }
    ActiveMessageHandler before = handlers[id];
    if ((before == null) != (handler == null)) {
      register(handle, id, handler == null ? 0 : stub);
      handlerCount += handler == null ? -1 : 1;
    }
    handlers[id] = handler;
  }

  private static void register(long worker, int id, long stub) {
    try (Arena temporary = Arena.ofConfined()) {
      MemorySegment param = Native.zeroed(temporary, AmHandlerParam.STRUCT);
      param.set(
          JAVA_LONG,
          AmHandlerParam.FIELD_MASK,
          UCP_AM_HANDLER_PARAM_FIELD_ID
              | UCP_AM_HANDLER_PARAM_FIELD_FLAGS
              | UCP_AM_HANDLER_PARAM_FIELD_CB
              | UCP_AM_HANDLER_PARAM_FIELD_ARG);
      param.set(JAVA_INT, AmHandlerParam.ID, id);
      param.set(JAVA_INT, AmHandlerParam.FLAGS, (int) UCP_AM_FLAG_PERSISTENT_DATA);
      param.set(JAVA_LONG, AmHandlerParam.CB, stub);
      param.set(JAVA_LONG, AmHandlerParam.ARG, id);
      Status.check(
          Ucp.workerSetAmRecvHandler(worker, param.address()),
          "ucp_worker_set_am_recv_handler of id " + id);
    }
  }

  /** UCX calls this. */
  private byte received(
      long id, long header, long headerLength, long data, long length, long param) {
    if (size == ring.length) {
      grow();
    }
    ActiveMessage message = ring[head + size & ring.length - 1];
    message.fill((int) id, header, headerLength);
    long attributes = Raw.word(param + AmRecvParam.RECV_ATTR);
    boolean rendezvous = (attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    boolean keep = rendezvous || (length > 0 && (attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
    if (keep) {
      message.fillHeld(data, length, rendezvous);
    } else if (length > 0) {
      message.fillCopied(data, length);
    }
    if ((attributes & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0) {
      message.fillReply(worker.endpoints().ofHandle(Raw.word(param + AmRecvParam.REPLY_EP)));
    }
    size++;
    return keep ? KEPT : DONE;
  }

  private void grow() {
    ActiveMessage[] larger = new ActiveMessage[ring.length * 2];
    for (int i = 0; i < larger.length; i++) {
      larger[i] = i < size ? ring[head + i & ring.length - 1] : new ActiveMessage(true);
    }
    ring = larger;
    head = 0;
  }

  /** Whether messages wait for their handlers. */
  boolean isEmpty() {
    return size == 0;
  }

  /** Calls the handlers of what is queued; gives how many messages that were. */
  int deliver() {
    if (size == 0 || delivering) {
      return 0;
    }
    int limit = size;
    int count = 0;
    delivering = true;
    try {
      while (count < limit && size > 0) {
        count++;
        deliverOne();
      }
    } finally {
      delivering = false;
    }
    return count;
  }

  /** Takes the first message out of the ring; what was current before is free. */
  private ActiveMessage take() {
    ActiveMessage message = ring[head];
    ring[head] = current;
    current = message;
    head = head + 1 & ring.length - 1;
    size--;
    message.present(worker);
    return message;
  }

  private void deliverOne() {
    ActiveMessage message = take();
    try {
      ActiveMessageHandler handler = handlers[message.id()];
      if (handler != null) {
        handler.received(message);
      }
    } finally {
      message.release();
    }
  }

  /** The program has taken a message over. */
  void moved(ActiveMessage from, ActiveMessage to) {
    if (from != current) {
      held = ActiveMessage.without(held, from);
    }
    to.link(held);
    held = to;
  }

  /** The program no longer needs a message. */
  void released(ActiveMessage message, long data) {
    if (message != current) {
      held = ActiveMessage.without(held, message);
    }
    giveBack(data);
  }

  private void giveBack(long data) {
    if (data != 0) {
      long handle = worker.entered();
      if (worker.callsAreCritical()) {
        Ucp.amDataReleaseCritical(handle, data);
      } else {
        Ucp.amDataRelease(handle, data);
      }
    }
  }

  /** Removes the handlers and empties all messages, before the worker goes. */
  void close(long handle) {
    for (int id = 0; id < handlers.length; id++) {
      if (handlers[id] != null) {
        set(handle, id, null);
      }
    }
    current.release();
    while (held != null) {
      held.release();
    }
    while (size > 0) {
      take().release();
    }
  }
}
