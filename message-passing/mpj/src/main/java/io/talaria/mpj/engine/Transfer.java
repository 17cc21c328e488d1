// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.BytesPayload;
import io.talaria.mpj.datatype.DensePayload;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.datatype.Objects;
import io.talaria.mpj.datatype.StridedPayload;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import io.talaria.mpj.device.Matched;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.Payload;
import io.talaria.mpj.device.RankGoneException;
import java.io.IOException;

/**
 * One send or receive of a part of the program's buffer, whatever its type, from its start to its
 * end. Used by one thread at a time.
 */
public final class Transfer {
  private final Engine engine;
  private final Operation op = new Operation();
  private final Object buffer;
  private final Layout layout;
  private final int offset;
  private final int count;
  private final Payload payload;
  private boolean finished;
  private RuntimeException failure;
  private int objects = -1;

  private Transfer(
      Engine engine, Object buffer, int offset, int count, Layout layout, boolean sending) {
    this.engine = engine;
    this.buffer = buffer;
    this.offset = offset;
    this.count = count;
    this.layout = layout;
    this.payload = payload(buffer, offset, count, layout, sending);
  }

  private static Payload payload(
      Object buffer, int offset, int count, Layout layout, boolean sending) {
    if (layout.base() == BaseType.OBJECT) {
      if (!sending) {
        return new BytesPayload(BaseType.OBJECT, null);
      }
      try {
        return new BytesPayload(
            BaseType.OBJECT, Objects.write((Object[]) buffer, layout, offset, count));
      } catch (IOException e) {
        throw new CommunicationException(Kind.TYPE, "an object cannot be sent: " + e, e);
      }
    }
    if (layout.dense()) {
      return new DensePayload().set(buffer, layout.base(), offset, (long) count * layout.size());
    }
    return new StridedPayload(buffer, layout, offset, count);
  }

  /** Starts to send. */
  public static Transfer send(
      Engine engine,
      Object buffer,
      int offset,
      int count,
      Layout layout,
      int to,
      int tag,
      int context,
      boolean synchronous) {
    Transfer t = new Transfer(engine, buffer, offset, count, layout, true);
    t.op.send(t.payload, to, tag, context);
    t.op.synchronous = synchronous;
    engine.isend(t.op);
    return t;
  }

  /** Starts to receive. */
  public static Transfer receive(
      Engine engine,
      Object buffer,
      int offset,
      int count,
      Layout layout,
      int from,
      int tag,
      int context) {
    Transfer t = new Transfer(engine, buffer, offset, count, layout, false);
    t.op.receive(t.payload, from, tag, context);
    engine.irecv(t.op);
    return t;
  }

  /** Starts to receive what a matched probe took. */
  public static Transfer receive(
      Engine engine,
      Object buffer,
      int offset,
      int count,
      Layout layout,
      Matched message,
      int context) {
    Transfer t = new Transfer(engine, buffer, offset, count, layout, false);
    t.op.receive(t.payload, 0, 0, context);
    engine.imrecv(message, t.op);
    return t;
  }

  /** What the device knows of it. */
  public Operation operation() {
    return op;
  }

  /** Whether it is over, after some progress. */
  public boolean test() {
    return engine.test(op);
  }

  /** Waits, and completes as {@link #finish}. */
  public Transfer await() {
    if (!op.over()) {
      engine.await(op);
    }
    return finish();
  }

  /** Asks to cancel. */
  public void cancel() {
    engine.cancel(op);
  }

  /** Whether it was cancelled. */
  public boolean cancelled() {
    return op.error == Operation.CANCELLED;
  }

  /** How many objects came; -1 if it was not of objects. */
  public int objects() {
    return objects;
  }

  /**
   * Reads objects, and throws if it failed. It must be over.
   *
   * @throws CommunicationException if the message did not fit, or was of another type
   */
  public Transfer finish() {
    if (failed()) {
      throw failure;
    }
    return this;
  }

  /** Whether {@link #finish} throws; reads objects. It must be over. */
  public boolean failed() {
    if (!finished) {
      finished = true;
      try {
        complete();
      } catch (RuntimeException e) {
        failure = e;
      }
    }
    return failure != null;
  }

  private void complete() {
    check(op);
    if (payload instanceof BytesPayload bytes && op.receive && !cancelled()) {
      try {
        objects = Objects.read(bytes.content(), (Object[]) buffer, layout, offset, count);
      } catch (IOException | ClassNotFoundException e) {
        throw new CommunicationException(Kind.TYPE, "an object cannot be received: " + e, e);
      }
      if (objects > count * layout.size()) {
        throw new CommunicationException(
            Kind.TRUNCATED,
            "message of " + objects + " objects for a receive of " + count * layout.size());
      }
    }
  }

  /**
   * Throws if an operation failed.
   *
   * @param op one that is over
   */
  public static void check(Operation op) {
    switch (op.error) {
      case Operation.TRUNCATED ->
          throw new CommunicationException(
              Kind.TRUNCATED,
              "message of " + op.sentBytes + " bytes for a receive of " + op.bytes + " bytes");
      case Operation.TYPE_MISMATCH ->
          throw new CommunicationException(
              Kind.TYPE,
              "message of "
                  + BaseType.of(op.fromType)
                  + " for a receive of "
                  + BaseType.of(op.payload.typeCode()));
      case Operation.FAILED -> throw ofOperation(op.failure);
      default -> {}
    }
  }

  /** What the program gets for an operation that failed, with the stack of its own call. */
  static CommunicationException ofOperation(RuntimeException failure) {
    if (failure instanceof RankGoneException gone) {
      return new RankGoneException(gone.rank(), gone.getMessage());
    }
    Kind kind = failure instanceof CommunicationException known ? known.kind() : Kind.PROGRAM;
    return new CommunicationException(kind, "" + failure.getMessage(), failure);
  }
}
