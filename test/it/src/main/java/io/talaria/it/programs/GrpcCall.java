// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/**
 * One gRPC call, for a thread that wants to wait: sends while gRPC has room, and asks for a message
 * when it has taken one. Used by one thread; gRPC's threads call it back.
 */
final class GrpcCall extends ClientCall.Listener<byte[]> implements AutoCloseable {
  /** How many messages may wait here unread. */
  private static final int AHEAD = 4;

  private static final long LIMIT_MS = 60_000;

  private final ClientCall<byte[], byte[]> call;
  private final Deque<byte[]> received = new ArrayDeque<>();
  private Status end;

  GrpcCall(ClientCall<byte[], byte[]> call) {
    this.call = call;
    call.start(this, new Metadata());
    call.request(AHEAD);
  }

  synchronized void send(byte[] message) throws InterruptedException {
    await(() -> call.isReady() || end != null, "room");
    call.sendMessage(message);
  }

  /** Sends the only message of a call that may send no more: gRPC never tells of room for it. */
  void ask(byte[] message) {
    call.sendMessage(message);
    call.halfClose();
  }

  void finish() {
    call.halfClose();
  }

  byte[] receive() throws InterruptedException {
    byte[] message = receiveOrEnd();
    if (message == null) {
      throw new IllegalStateException("no message, but " + end, end.getCause());
    }
    return message;
  }

  /** The next message, or null if none can follow. */
  byte[] receiveOrEnd() throws InterruptedException {
    synchronized (this) {
      await(() -> !received.isEmpty() || end != null, "message");
      if (received.isEmpty()) {
        return null;
      }
    }
    call.request(1);
    synchronized (this) {
      return received.remove();
    }
  }

  synchronized void awaitEnd(Status.Code expected) throws InterruptedException {
    await(() -> end != null, "end");
    if (end.getCode() != expected) {
      throw new IllegalStateException(end + " instead of " + expected, end.getCause());
    }
  }

  private synchronized void await(BooleanSupplier done, String what) throws InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT_MS * 1_000_000;
    while (!done.getAsBoolean()) {
      long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
      if (leftMs <= 0) {
        throw new IllegalStateException("no " + what + " within " + LIMIT_MS + " ms");
      }
      wait(leftMs);
    }
  }

  /** Cancels the call if it has not ended. */
  @Override
  public void close() {
    call.cancel("enough", null);
  }

  @Override
  public synchronized void onMessage(byte[] message) {
    received.add(message);
    notifyAll();
  }

  @Override
  public synchronized void onReady() {
    notifyAll();
  }

  @Override
  public synchronized void onClose(Status status, Metadata trailers) {
    end = status;
    notifyAll();
  }
}
