// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Counts with a server, and sees whether all is in order. Used by one thread. */
final class CounterClient {
  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(1);

  /** How long the first answer may take. */
  private static final int LIMIT_SECONDS = 10;

  /** How often it looks at the clock. */
  private static final long LOOK_EVERY = 1 << 12;

  private final ParentLink link;
  private final HostPort server;
  private final long upTo;
  private long received;

  /** Closes the connection, unless the first answer cancels it. */
  private CompletableFuture<Void> limit;

  private CounterClient(ParentLink link, HostPort server, long upTo) {
    this.link = link;
    this.server = server;
    this.upTo = upTo;
  }

  static Object run(ParentLink link, Task task) throws Exception {
    CounterClient client =
        new CounterClient(link, task.where(), task.job(CounterJob.class).numbers());
    try (SocketChannel channel = connect(task.where())) {
      client.limit =
          CompletableFuture.runAsync(
              () -> close(channel),
              CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS));
      return client.count(new Numbers(channel));
    } catch (AsynchronousCloseException e) {
      throw new HarnessException(
          task.where() + " did not answer within " + LIMIT_SECONDS + " s", e);
    } catch (IOException e) {
      throw Peer.lost(task.where(), client.when(), e);
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String when() {
    return String.format(Locale.ROOT, "after %,d of %,d numbers", received, upTo);
  }

  private static SocketChannel connect(HostPort where) throws HarnessException {
    try {
      return SocketChannel.open(new InetSocketAddress(where.host(), where.port()));
    } catch (IOException | RuntimeException e) {
      throw Peer.cannotConnect(where, e);
    }
  }

  private CounterResult count(Numbers numbers) throws Exception {
    numbers.write(Numbers.MAGIC);
    Settling.await(1, () -> exchange(numbers));
    long start = System.nanoTime();
    numbers.write(upTo);
    CompletableFuture<Void> sent = CounterServer.sending(numbers, upTo);
    receive(numbers);
    try {
      sent.get();
    } catch (ExecutionException e) {
      throw Peer.lost(server, when(), e.getCause());
    }
    long verdict = numbers.read();
    long elapsedNs = System.nanoTime() - start;
    if (verdict != upTo) {
      throw new HarnessException(
          String.format(Locale.ROOT, "the server got a wrong number where %,d was due", -verdict));
    }
    return new CounterResult(upTo, elapsedNs, TransportProbe.look());
  }

  private void exchange(Numbers numbers) throws IOException, HarnessException {
    numbers.write(0);
    long answer = numbers.read();
    limit.cancel(false);
    if (answer != 0) {
      throw new HarnessException(server + " is no counter: it answered " + answer);
    }
  }

  private void receive(Numbers numbers) throws IOException, HarnessException {
    long reported = System.nanoTime();
    while (received < upTo) {
      long number = numbers.read();
      if (number != received + 1) {
        throw new HarnessException(
            String.format(
                Locale.ROOT, "the number %,d came where %,d was due", number, received + 1));
      }
      received = number;
      if (received % LOOK_EVERY == 0 && System.nanoTime() - reported > REPORT_NS) {
        reported = System.nanoTime();
        link.report(Orders.PROGRESS, received);
      }
    }
  }
}
