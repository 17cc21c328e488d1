// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Task;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Counts with each client that connects, in threads of its own. */
final class CounterServer implements Service {
  private final ServerSocketChannel listener;

  private CounterServer(ServerSocketChannel listener) {
    this.listener = listener;
    daemon("talaria-counter-accept", this::accept);
  }

  static CounterServer open(Task task) throws IOException, HarnessException {
    ServerSocketChannel listener = ServerSocketChannel.open();
    try {
      listener.bind(Peer.bindAddress(task.where()));
    } catch (IOException | RuntimeException e) {
      listener.close();
      throw Peer.cannotListen(task.where(), e);
    }
    return new CounterServer(listener);
  }

  @Override
  public int port() {
    return listener.socket().getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel channel = listener.accept();
        daemon("talaria-counter", () -> serve(channel));
      }
    } catch (ClosedChannelException e) {
      // Closed by close().
    } catch (IOException e) {
      System.err.println("cannot accept further connections: " + e);
    }
  }

  private static void serve(SocketChannel channel) {
    try (channel) {
      Numbers numbers = new Numbers(channel);
      if (numbers.read() != Numbers.MAGIC) {
        return; // Somebody else.
      }
      long upTo = numbers.read();
      while (upTo == 0) {
        numbers.write(0);
        upTo = numbers.read();
      }
      CompletableFuture<Void> sent = sending(numbers, upTo);
      long wrong = 0;
      for (long due = 1; due <= upTo; due++) {
        // Continues after a wrong number: the client still sends, and must hear of it in the end.
        if (numbers.read() != due && wrong == 0) {
          wrong = due;
        }
      }
      sent.get();
      numbers.write(wrong == 0 ? upTo : -wrong);
      numbers.read(); // until the client ends it, who has looked at the transport by then
    } catch (IOException | ExecutionException e) {
      // The client has gone, and reports the reason itself.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Counts in a thread of its own. */
  static CompletableFuture<Void> sending(Numbers numbers, long upTo) {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    daemon(
        "talaria-counter-send",
        () -> {
          try {
            numbers.count(upTo);
            sent.complete(null);
          } catch (IOException e) {
            sent.completeExceptionally(e);
          }
        });
    return sent;
  }

  private static void daemon(String name, Runnable body) {
    Thread.ofPlatform().daemon().name(name).start(body);
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      System.err.println("cannot close the listener: " + e);
    }
  }
}
