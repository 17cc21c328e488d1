// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Two sides, each a thread with a worker of its own, as two processes on two hosts would be. What
 * those would tell each other by a socket, addresses and keys, they exchange here.
 */
final class Sides {
  private static final long LIMIT_NS = 20_000_000_000L;

  private final Exchanger<byte[]> post = new Exchanger<>();

  private Sides() {}

  /** What a side does; the other is at the other end of the endpoint. */
  @FunctionalInterface
  interface Side {
    String run(Sides sides, Worker worker, Endpoint other) throws Exception;
  }

  /** Runs both; gives what the first has found out. */
  static String run(Context.Options options, Side first, Side second) throws Exception {
    Sides sides = new Sides();
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
          // Both are done: now it may be closed.
          meet(worker);
          return found;
        }
      }
    };
  }

  /** Gives the other side bytes, and takes its. */
  byte[] swap(byte[] mine) throws Exception {
    return post.exchange(mine, 60, TimeUnit.SECONDS);
  }

  /** Waits for the other side, progressing meanwhile: it may need this worker. */
  void meet(Worker worker) throws Exception {
    Thread waiting = new Thread(this::swapNothing);
    waiting.start();
    while (waiting.isAlive()) {
      worker.progress();
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
