// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.link.Binding;
import io.talaria.bench.link.Bindings;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Both sides of a connection in this JVM, with a worker each: nothing that is measured here would
 * mean anything, but each pattern comes to its end.
 */
public final class LinkPair implements AutoCloseable {
  private static final long LIMIT_S = 60;

  private final Worker server;
  private final Worker client;

  /**
   * Connects.
   *
   * @param kind the library
   * @param maxBytes the largest message
   */
  public LinkPair(BindingKind kind, int maxBytes) throws Exception {
    assertThat(Bindings.load(kind)).isEmpty();
    String transports = kind.ucx() ? "posix,self" : "";
    Binding.Setup setup = new Binding.Setup("127.0.0.1", maxBytes, 1, 0, transports, false);
    server = new Worker(0, kind, setup);
    client = new Worker(1, kind, setup);
    get(server.accept(get(client.answer(get(server.offer())))));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(LIMIT_S, TimeUnit.SECONDS);
  }

  /** Has both sides do their part of a pattern. */
  public void operate(Pattern pattern, int sizeBytes, long messages) throws Exception {
    get(server.prepare(sizeBytes));
    get(client.prepare(sizeBytes));
    AtomicBoolean ended = new AtomicBoolean();
    Orders.Operate order = new Orders.Operate(messages, 0, true, pattern.latency());
    Future<?> follows = server.operate(pattern, false, order, ended::get);
    Worker.Work work = get(client.operate(pattern, true, order, ended::get));
    ended.set(true);
    get(follows);
    if (pattern.latency()) {
      assertThat(work.laps().sinceBegun().getTotalCount()).isEqualTo(messages);
    } else {
      assertThat(work.laps()).isNull();
    }
  }

  /** Closes both at once, as in a run: what one side does when it closes needs no help. */
  @Override
  public void close() {
    Future<?> ends = server.end();
    try {
      get(client.end());
      get(ends);
    } catch (Exception e) {
      throw new AssertionError("cannot close", e);
    } finally {
      server.close();
      client.close();
    }
  }
}
