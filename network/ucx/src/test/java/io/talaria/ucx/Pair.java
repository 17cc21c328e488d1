// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.BooleanSupplier;

/** Two workers in one thread, and an endpoint from each to the other. */
final class Pair implements AutoCloseable {
  static final long LIMIT_NS = 20_000_000_000L;

  final Context context;
  final Worker left;
  final Worker right;
  final Endpoint toRight;
  final Endpoint toLeft;

  Pair(ErrorHandling errorHandling, Feature first, Feature... more) {
    context = context(first, more);
    left = Worker.open(context, Worker.Options.defaults());
    right = Worker.open(context, Worker.Options.defaults());
    toRight = left.connect(Endpoint.Options.to(right.address()).errorHandling(errorHandling));
    toLeft = right.connect(Endpoint.Options.to(left.address()).errorHandling(errorHandling));
  }

  /** A context on shared memory, with failures found. */
  static Context context(Feature first, Feature... more) {
    try (Config config = config()) {
      return Context.open(Context.Options.of(first, more), config);
    }
  }

  static Config config() {
    Ucx.defaultSetting("UCX_POSIX_ERROR_HANDLING", "y");
    return Config.read().set("TLS", "posix,self,cma,tcp").set("KEEPALIVE_INTERVAL", "1s");
  }

  void progress() {
    left.progress();
    right.progress();
  }

  /** Progresses both until something holds; fails after a while. */
  void until(BooleanSupplier condition) {
    until(condition, this::progress);
  }

  static void until(BooleanSupplier condition, Runnable progress) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      progress.run();
      Thread.yield(); // to a peer that shares the core
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new AssertionError("nothing has happened for " + LIMIT_NS + " ns");
      }
    }
  }

  /** Progresses both until a request of the left or right worker is over; gives the outcome. */
  int finish(Worker worker, long request) {
    if (request <= 0) {
      return (int) request;
    }
    until(() -> worker.status(request) != Status.IN_PROGRESS);
    return worker.poll(request);
  }

  /** Lets the two sides find each other, by a byte each way. */
  void wireUpStreams() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocate(1);
      StreamChunk chunk = new StreamChunk();
      long first = toRight.sendStream(one, 0, 1, 0);
      long second = toLeft.sendStream(one, 0, 1, 0);
      until(() -> toLeft.receiveStream(chunk) > 0);
      chunk.release();
      until(() -> toRight.receiveStream(chunk) > 0);
      chunk.release();
      finish(left, first);
      finish(right, second);
    }
  }

  /** Bytes that differ by place. */
  static MemorySegment pattern(Arena arena, long size) {
    MemorySegment buffer = arena.allocate(size, 8);
    for (long i = 0; i < size; i++) {
      buffer.set(ValueLayout.JAVA_BYTE, i, patternAt(i));
    }
    return buffer;
  }

  static byte patternAt(long i) {
    return (byte) (i * 31 + (i >> 8));
  }

  @Override
  public void close() {
    left.close();
    right.close();
    context.close();
  }
}
