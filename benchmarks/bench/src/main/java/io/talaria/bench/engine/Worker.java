// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.link.Binding;
import io.talaria.bench.link.Bindings;
import io.talaria.bench.link.Laps;
import io.talaria.bench.link.Link;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A connection and its thread: all that is done with it is done by that thread. Its own methods are
 * for the main thread.
 *
 * <p>Between orders the thread looks after the connection, if the library has no thread that does:
 * the peer may not be done yet. It looks ever less often while there is nothing to do, because
 * other connections may be measured still.
 */
final class Worker implements AutoCloseable {
  private static final long MIN_REST_NS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long MAX_REST_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final ScheduledExecutorService thread;
  private final Binding binding;
  private long restNs = MIN_REST_NS;
  private boolean closed;

  Worker(int index, BindingKind kind, Binding.Setup setup) {
    thread =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("talaria-worker-" + index).factory());
    binding = Bindings.create(kind, setup);
  }

  Future<String> offer() {
    return thread.submit(
        () -> {
          String offer = binding.offer();
          lookAfter();
          return offer;
        });
  }

  Future<String> answer(String offer) {
    return thread.submit(
        () -> {
          String answer = binding.answer(offer);
          lookAfter();
          return answer;
        });
  }

  Future<?> accept(String answer) {
    return thread.submit(
        () -> {
          binding.accept(answer);
          return null;
        });
  }

  Future<?> prepare(int sizeBytes) {
    return thread.submit(
        () -> {
          binding.link().prepare(sizeBytes);
          return null;
        });
  }

  /**
   * When a worker worked.
   *
   * @param startNs when it began
   * @param endNs when it ended
   * @param laps its times; null if it took none
   */
  record Work(long startNs, long endNs, Laps laps) {}

  /** Runs this side's part of a pattern. */
  Future<Work> operate(
      Pattern pattern, boolean client, Orders.Operate order, BooleanSupplier ended) {
    return thread.submit(
        () -> {
          restNs = MIN_REST_NS;
          boolean timed = client && pattern.latency() && order.timed();
          Laps laps = timed ? new Laps(order.ratePerSecond()) : Laps.untimed();
          long start = System.nanoTime();
          if (client) {
            lead(binding.link(), pattern, order.operations(), laps);
          } else {
            follow(binding.link(), pattern, order.operations(), ended);
          }
          return new Work(start, System.nanoTime(), timed ? laps : null);
        });
  }

  private static void lead(Link link, Pattern pattern, long operations, Laps laps)
      throws IOException {
    switch (pattern) {
      case THROUGHPUT -> {
        if (link.oneSided()) {
          for (long i = 0; i < operations; i++) {
            link.access();
          }
          link.complete();
        } else {
          link.sendAll(operations);
          link.receive(); // the peer has all of it
        }
      }
      case BIDIRECTIONAL, ALL_TO_ALL -> link.both(operations);
      case PINGPONG -> link.pingPong(operations, laps);
      case ACCESS -> {
        for (long i = 0; i < operations; i++) {
          laps.begin();
          link.access();
          link.complete();
          laps.end();
        }
      }
    }
  }

  private static void follow(Link link, Pattern pattern, long operations, BooleanSupplier ended)
      throws IOException {
    switch (pattern) {
      case THROUGHPUT -> {
        if (link.oneSided()) {
          link.idle(ended);
        } else {
          link.receiveAll(operations);
          link.sendAll(1);
        }
      }
      case BIDIRECTIONAL, ALL_TO_ALL -> link.both(operations);
      case PINGPONG -> link.echo(operations);
      case ACCESS -> link.idle(ended);
    }
  }

  private void lookAfter() {
    if (binding.link() != null && binding.link().needsProgress()) {
      rest();
    }
  }

  private void rest() {
    thread.schedule(this::progress, restNs, TimeUnit.NANOSECONDS);
  }

  private Void progress() throws IOException {
    if (!closed) {
      restNs = binding.link().progress() ? MIN_REST_NS : Math.min(2 * restNs, MAX_REST_NS);
      rest(); // not if it failed: the next order will tell
    }
    return null;
  }

  /** Begins to close the connection. */
  Future<?> end() {
    return thread.submit(
        () -> {
          closed = true;
          if (binding.link() != null) {
            binding.link().close();
          }
          binding.close();
          return null;
        });
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
