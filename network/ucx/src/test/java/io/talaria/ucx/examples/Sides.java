// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Two sides, each a thread with a worker of its own; or each a process, perhaps on two hosts, once
 * {@link #apart} was called. Addresses and keys they tell each other by an exchanger, or by a
 * socket.
 */
final class Sides {
  private static final long LIMIT_NS = 60_000_000_000L;

  /** Null: both sides are in this process. */
  private static SocketPost away;

  private final Post post;
  private List<String> transports = List.of();

  private Sides(Post post) {
    this.post = post;
  }

  /** By which the sides tell each other what they must know before UCX connects them. */
  @FunctionalInterface
  interface Post {
    /** Gives the other side bytes, and takes its. */
    byte[] swap(byte[] mine) throws Exception;
  }

  /** From now on the other side is another process. */
  static void apart(SocketPost other) {
    away = other;
  }

  /** What a side does; the other is at the other end of the endpoint. */
  @FunctionalInterface
  interface Side {
    String run(Sides sides, Worker worker, Endpoint other) throws Exception;
  }

  /** Runs both, or the one that is here; gives what the first has found out. */
  static String run(Context.Options options, Side first, Side second) throws Exception {
    if (away != null) {
      Sides sides = new Sides(away);
      try (Context context = Context.open(options)) {
        String found = sides.side(context, away.first() ? first : second).call();
        return found + (found.isEmpty() ? "over " : ", over ") + String.join(" ", sides.transports);
      }
    }
    Exchanger<byte[]> between = new Exchanger<>();
    Sides sides = new Sides(mine -> between.exchange(mine, 60, TimeUnit.SECONDS));
    try (Context context = Context.open(options);
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<String> one = threads.submit(sides.side(context, first));
      Future<String> two = threads.submit(sides.side(context, second));
      two.get(60, TimeUnit.SECONDS);
      return one.get(60, TimeUnit.SECONDS);
    }
  }

  private Callable<String> side(Context context, Side side) {
    return () -> {
      try (Worker worker = Worker.open(context, Worker.Options.defaults())) {
        WorkerAddress there = WorkerAddress.of(swap(worker.address().toBytes()));
        try (Endpoint other = worker.connect(Endpoint.Options.to(there))) {
          String found = side.run(this, worker, other);
          finish(worker, other.flush());
          transports = other.transports();
          // Both are done: now it may be closed.
          meet(worker);
          return found;
        }
      }
    };
  }

  /** Gives the other side bytes, and takes its. */
  byte[] swap(byte[] mine) throws Exception {
    return post.swap(mine);
  }

  /** Waits for the other side, progressing meanwhile: it may need this worker. */
  void meet(Worker worker) throws Exception {
    Thread waiting = new Thread(this::swapNothing);
    waiting.start();
    while (waiting.isAlive()) {
      if (worker.progress() == 0) {
        Thread.yield();
      }
    }
    waiting.join();
  }

  private void swapNothing() {
    try {
      byte[] ignored = swap(new byte[0]);
    } catch (Exception e) {
      throw new IllegalStateException("the other side did not come", e);
    }
  }

  /** Progresses until an operation is over, which must succeed. */
  static void finish(Worker worker, long request) {
    int status = worker.await(request, LIMIT_NS);
    if (status != Status.OK) {
      throw new UcxException(status, "an operation of the example");
    }
  }
}
