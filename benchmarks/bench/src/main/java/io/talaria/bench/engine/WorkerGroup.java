// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.ChildGoneException;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * The measuring JVMs of a case, kept in step: the first failure ends the wait for all. Used by one
 * thread, which closes it.
 */
public final class WorkerGroup implements AutoCloseable {
  /** How long to wait, after a failure, for its cause. */
  private static final Duration AFTERMATH = Duration.ofSeconds(5);

  private final List<Measurer> members;
  private final String serverHost;
  private final ExecutorService waiters =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("talaria-observe-wait-", 0).factory());

  /**
   * Gathers a worker group.
   *
   * @param members at least two; in each pair the earlier one is connected to by the later one; the
   *     first half are of the server's side
   * @param serverHost how those are reached
   */
  WorkerGroup(List<Measurer> members, String serverHost) {
    this.members = List.copyOf(members);
    this.serverHost = serverHost;
  }

  private boolean onServer(int member) {
    return member < WorkerPool.onServer(members.size());
  }

  /** Returns how those who connect to a member reach it. */
  String host(int member) {
    return onServer(member) ? serverHost : WorkerPool.HERE;
  }

  /** Returns words that begin what is told of a member; empty if both sides are one machine. */
  String side(int member) {
    return serverHost.equals(WorkerPool.HERE)
        ? ""
        : onServer(member) ? "the server's side: " : "this side: ";
  }

  /** Returns how many there are. */
  int size() {
    return members.size();
  }

  /**
   * Starts the JVMs.
   *
   * @param transport what their sockets run on
   * @throws HarnessException if one does not start
   * @throws InterruptedException if interrupted
   */
  public void start(SocketTransport transport) throws HarnessException, InterruptedException {
    List<CompletableFuture<Boolean>> starts = new ArrayList<>();
    for (Measurer member : members) {
      starts.add(
          submit(
              () -> {
                member.start(transport);
                return true;
              }));
    }
    // None may be left that starts while all are stopped.
    starts.forEach(start -> start.exceptionally(e -> false).join());
    all(starts);
  }

  /** Gives an order to one, and waits for it. */
  <T> T one(int member, Orders.Phase phase, Object body, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    try {
      members.get(member).order(phase, body, limit);
      return members.get(member).await(phase, type);
    } catch (ChildGoneException e) {
      throw e;
    } catch (HarnessException e) {
      Optional<ChildGoneException> gone = gone(ask(member));
      throw gone.isPresent() ? gone.get() : e;
    }
  }

  /** Has all others end their work, so that each reports if its JVM has exited. */
  private List<CompletableFuture<Orders.Nothing>> ask(int except) {
    List<CompletableFuture<Orders.Nothing>> answers = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      Measurer member = members.get(i);
      if (i != except) {
        answers.add(
            submit(
                () -> {
                  member.order(Orders.Phase.CLEAN_UP, Orders.Nothing.INSTANCE, AFTERMATH);
                  return member.await(Orders.Phase.CLEAN_UP, Orders.Nothing.class);
                }));
      }
    }
    return answers;
  }

  /**
   * Waits a moment for a member to report that its JVM has ended, which explains the failures that
   * others report.
   */
  private static Optional<ChildGoneException> gone(List<? extends CompletableFuture<?>> ends)
      throws InterruptedException {
    CompletableFuture<ChildGoneException> found = new CompletableFuture<>();
    // All have been looked at before the wait ends: what is told to two may reach either first.
    CompletableFuture<?>[] looks =
        ends.stream()
            .map(end -> end.handle((value, e) -> look(e, found)))
            .toArray(CompletableFuture[]::new);
    try {
      CompletableFuture.anyOf(found, CompletableFuture.allOf(looks))
          .get(AFTERMATH.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // No member has reported that its JVM has ended.
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // looking does not fail
    }
    return Optional.ofNullable(found.getNow(null));
  }

  private static boolean look(Throwable failure, CompletableFuture<ChildGoneException> found) {
    return failure instanceof ChildGoneException gone && found.complete(gone);
  }

  /** Gives an order to each, and waits for all. */
  <T> List<T> each(Orders.Phase phase, IntFunction<?> body, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    return all(order(phase, body, type, limit));
  }

  private <T> List<CompletableFuture<T>> order(
      Orders.Phase phase, IntFunction<?> body, Class<T> type, Duration limit)
      throws HarnessException {
    List<CompletableFuture<T>> ends = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      Measurer member = members.get(i);
      member.order(phase, body.apply(i), limit);
      ends.add(submit(() -> member.await(phase, type)));
    }
    return ends;
  }

  /** Has all operate; those who do not lead are told when the leaders are done. */
  List<Orders.Operated> operate(Orders.Operate order, IntPredicate leads, Duration limit)
      throws HarnessException, InterruptedException {
    List<CompletableFuture<Orders.Operated>> ends =
        order(Orders.Phase.OPERATE, member -> order, Orders.Operated.class, limit);
    for (int i = 0; i < members.size(); i++) {
      if (leads.test(i)) {
        first(ends.get(i), ends);
      }
    }
    for (int i = 0; i < members.size(); i++) {
      if (!leads.test(i)) {
        members.get(i).order(Orders.Phase.END, Orders.Nothing.INSTANCE, null);
      }
    }
    return all(ends);
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

  private static <T> List<T> all(List<CompletableFuture<T>> ends)
      throws HarnessException, InterruptedException {
    List<T> results = new ArrayList<>();
    for (CompletableFuture<T> end : ends) {
      results.add(first(end, ends));
    }
    return results;
  }

  /** Waits for one, but no longer if any has failed. */
  private static <T> T first(CompletableFuture<T> wanted, List<CompletableFuture<T>> all)
      throws HarnessException, InterruptedException {
    CompletableFuture<T> failed = new CompletableFuture<>();
    for (CompletableFuture<T> one : all) {
      one.whenComplete(
          (value, e) -> {
            if (e != null) {
              failed.completeExceptionally(e);
            }
          });
    }
    try {
      CompletableFuture.anyOf(wanted, failed).get();
      return wanted.get();
    } catch (ExecutionException e) {
      Optional<ChildGoneException> gone = gone(all);
      if (gone.isPresent()) {
        throw gone.get();
      }
      if (e.getCause() instanceof HarnessException cause) {
        throw cause;
      }
      throw new HarnessException("waiting failed: " + e.getCause(), e.getCause());
    }
  }

  /** Ends the JVMs. */
  @Override
  public void close() {
    List<CompletableFuture<Boolean>> ends = new ArrayList<>();
    for (Measurer member : members) {
      ends.add(
          submit(
              () -> {
                member.stop();
                return true;
              }));
    }
    ends.forEach(end -> end.exceptionally(e -> false).join());
    waiters.shutdown();
  }
}
