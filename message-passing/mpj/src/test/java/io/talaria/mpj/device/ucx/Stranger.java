// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ucx;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.Status;
import io.talaria.ucx.Ucx;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A worker of UCX on a thread of its own, which says whatever it is told to. */
final class Stranger implements AutoCloseable {
  private record Message(WorkerAddress to, MemorySegment bytes, long tag) {}

  private final CompletableFuture<WorkerAddress> address = new CompletableFuture<>();
  private final Queue<Message> messages = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "stranger");
  private volatile boolean closed;

  Stranger() {
    thread.setDaemon(true);
    thread.start();
  }

  String rankAddress() {
    return UcxRankAddress.of(Ucx.version(), address.join()).write();
  }

  void say(WorkerAddress to, byte[] bytes, long tag) {
    MemorySegment copy = Arena.ofAuto().allocate(Math.max(1, bytes.length), 8);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, copy, 0, bytes.length);
    messages.add(new Message(to, copy, tag));
  }

  private void run() {
    try (Context context = Context.open(Context.Options.of(Feature.TAG));
        Worker worker = Worker.open(context, Worker.Options.defaults())) {
      address.complete(worker.address());
      Endpoint endpoint = null;
      while (!closed) {
        Message message = messages.poll();
        if (message != null) {
          if (endpoint == null) {
            endpoint = worker.connect(Endpoint.Options.to(message.to));
          }
          MemorySegment bytes = message.bytes;
          long answer = endpoint.sendTag(bytes, 0, bytes.byteSize(), message.tag, 0);
          Status.check(worker.await(answer, 60_000_000_000L), "send");
        }
        worker.progress();
        Thread.onSpinWait();
      }
    } catch (RuntimeException e) {
      address.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join(60_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
