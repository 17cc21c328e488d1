// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.engine;

import io.talaria.cli.harness.HarnessException;
import io.talaria.observatory.plan.Road;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The two measuring JVMs, kept in step: whoever fails first ends the wait for both. Used by one
 * thread, which closes it.
 */
final class Duo implements AutoCloseable {
  private final Measurer server;
  private final Measurer client;
  private final ExecutorService waiters =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("talaria-observe-wait-", 0).factory());

  Duo(Measurer server, Measurer client) {
    this.server = server;
    this.client = client;
  }

  /**
   * What both sides reported.
   *
   * @param server the server's
   * @param client the client's
   */
  record Both<T>(T server, T client) {}

  void start(Road road) throws HarnessException, InterruptedException {
    CompletableFuture<Boolean> serverStart =
        submit(
            () -> {
              server.start(road);
              return true;
            });
    try {
      client.start(road);
    } finally {
      serverStart.exceptionally(e -> false).join();
    }
    first(serverStart, serverStart);
  }

  /** Gives an order to the server alone. */
  <T> T server(Orders.Phase phase, Object body, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    return one(server, phase, body, type, limit);
  }

  /** Gives an order to the client alone. */
  <T> T client(Orders.Phase phase, Object body, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    return one(client, phase, body, type, limit);
  }

  private static <T> T one(
      Measurer side, Orders.Phase phase, Object body, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    side.order(phase, body, limit);
    return side.await(phase, type);
  }

  /** Gives an order to both, and waits for both. */
  <T> Both<T> both(Orders.Phase phase, Object server, Object client, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    this.server.order(phase, server, limit);
    CompletableFuture<T> serverEnd = submit(() -> this.server.await(phase, type));
    this.client.order(phase, client, limit);
    CompletableFuture<T> clientEnd = submit(() -> this.client.await(phase, type));
    return new Both<>(first(serverEnd, clientEnd), first(clientEnd, serverEnd));
  }

  /** Has both operate; the server is told when the client is done. */
  Both<Orders.Operated> operate(Orders.Operate order, Duration limit)
      throws HarnessException, InterruptedException {
    server.order(Orders.Phase.OPERATE, order, limit);
    CompletableFuture<Orders.Operated> serverEnd =
        submit(() -> server.await(Orders.Phase.OPERATE, Orders.Operated.class));
    client.order(Orders.Phase.OPERATE, order, limit);
    CompletableFuture<Orders.Operated> clientEnd =
        submit(() -> client.await(Orders.Phase.OPERATE, Orders.Operated.class));
    Orders.Operated done = first(clientEnd, serverEnd);
    server.order(Orders.Phase.END, Orders.Nothing.INSTANCE, null);
    return new Both<>(first(serverEnd, clientEnd), done);
  }

  private <T> CompletableFuture<T> submit(Callable<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    waiters.execute(
        () -> {
          try {
            result.complete(task.call());
          } catch (Exception e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  /** Waits for one, but no longer if the other has failed. */
  private static <T> T first(CompletableFuture<T> wanted, CompletableFuture<T> other)
      throws HarnessException, InterruptedException {
    CompletableFuture<T> failed = new CompletableFuture<>();
    other.whenComplete(
        (value, e) -> {
          if (e != null) {
            failed.completeExceptionally(e);
          }
        });
    try {
      CompletableFuture.anyOf(wanted, failed).get();
      return wanted.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof HarnessException cause) {
        throw cause;
      }
      throw new HarnessException("waiting failed: " + e.getCause(), e.getCause());
    }
  }

  /** Ends both JVMs. */
  void stop() {
    client.stop();
    server.stop();
  }

  @Override
  public void close() {
    client.close();
    server.close();
    waiters.shutdownNow();
  }
}
