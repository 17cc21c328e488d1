// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A session in memory between two transports, each with a negotiation thread of its own. */
final class StreamSession {
  private static final long DEADLINE_S = 30;

  private final Side dialler;
  private final Side dialled;
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final Queue<StreamEnd> open = new ArrayDeque<>();
  private boolean clientGone;

  StreamSession(StreamVariant.Pair transports) throws Exception {
    assertThat(transports.dialling().unavailable()).as(transports.dialling().problem()).isNull();
    assertThat(transports.accepting().unavailable()).isNull();
    dialler = new Side(true, transports.dialling());
    dialled = new Side(false, transports.accepting());
    dialler.other = dialled;
    dialled.other = dialler;
    ByteBuffer payload = dialler.call(() -> dialler.transport.openPeer(dialler));
    dialled.call(
        () -> {
          dialled.transport.acceptPeer(dialled, payload);
          return null;
        });
    dialler.call(
        () -> {
          dialler.transport.peerAccepted(dialler);
          return null;
        });
  }

  /** One process's half. */
  private final class Side implements Peer {
    final TransportProvider transport;
    private final boolean initiator;
    private final ExecutorService thread =
        Executors.newSingleThreadExecutor(
            work -> {
              Thread made = new Thread(work, "negotiation");
              made.setDaemon(true);
              return made;
            });
    private Side other;
    private volatile Object attachment;

    Side(boolean initiator, TransportProvider transport) {
      this.initiator = initiator;
      this.transport = transport;
    }

    <T> T call(Callable<T> work) throws Exception {
      return thread.submit(work).get(DEADLINE_S, TimeUnit.SECONDS);
    }

    @Override
    public boolean initiator() {
      return initiator;
    }

    @Override
    public long pid() {
      return 0;
    }

    @Override
    public void send(ByteBuffer message) {
      ByteBuffer copy = ByteBuffer.allocate(message.remaining()).put(message.duplicate()).flip();
      other.execute(
          () -> {
            try {
              other.transport.received(other, copy);
            } catch (TransportException e) {
              failures.add(e);
            }
          });
    }

    @Override
    public void execute(Runnable task) {
      try {
        thread.execute(
            () -> {
              try {
                task.run();
              } catch (RuntimeException | Error e) {
                failures.add(e);
              }
            });
      } catch (RejectedExecutionException e) {
        // The session has ended; a transport may find out later.
      }
    }

    @Override
    public Object attachment() {
      return attachment;
    }

    @Override
    public void attach(Object value) {
      attachment = value;
    }
  }

  /** Both ends of a connection; the accepting one first. */
  record Ends(StreamEnd client, StreamEnd server) {}

  /** A stream that is offered and answered, and that nobody has accepted. */
  Ends offer() throws Exception {
    Upgrade offer = dialler.call(() -> dialler.transport.offer(dialler));
    Upgrade answer = dialled.call(() -> dialled.transport.answer(dialled, offer.payload()));
    StreamEnd server = new StreamEnd(answer.stream());
    dialler.call(
        () -> {
          offer.answered(answer.payload());
          return null;
        });
    StreamEnd client = new StreamEnd(offer.stream());
    client.other = server;
    server.other = client;
    open.add(client);
    open.add(server);
    return new Ends(client, server);
  }

  /** An established connection whose output is on the transport in both directions. */
  Ends connect() throws Exception {
    Ends ends = offer();
    TransportStream client = ends.client.stream;
    TransportStream server = ends.server.stream;
    client.acceptInput();
    server.acceptInput();
    until(() -> client.established() && server.established());
    client.switchOut(0);
    server.switchOut(0);
    until(() -> client.peerSwitchAt() == 0 && server.peerSwitchAt() == 0);
    return ends;
  }

  /** Waits for what a transport brings by itself, and helps it as a thread that looks does. */
  void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      for (StreamEnd end : open) {
        end.stream.readiness(TransportStream.READ | TransportStream.WRITE);
      }
      Thread.onSpinWait();
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(DEADLINE_S)) {
        throw new AssertionError("nothing has happened for " + DEADLINE_S + " s");
      }
    }
  }

  /** Gives an end back before the session ends. */
  void release(StreamEnd end) {
    open.remove(end);
    end.stream.release();
  }

  /** The client's process has ended, as the server's side learns by the end of the session. */
  void endClient() throws Exception {
    clientGone = true;
    dialled.call(
        () -> {
          dialled.transport.peerGone(dialled);
          return null;
        });
  }

  void settle() throws Exception {
    for (int i = 0; i < 4; i++) {
      dialler.call(() -> null);
      dialled.call(() -> null);
    }
    Throwable first = failures.peek();
    if (first != null) {
      throw new AssertionError("a negotiation thread failed: " + first, first);
    }
  }

  void close() throws Exception {
    while (!open.isEmpty()) {
      release(open.peek());
    }
    settle();
    dialler.call(
        () -> {
          dialler.transport.peerGone(dialler);
          return null;
        });
    if (!clientGone) {
      endClient();
    }
    settle();
    dialler.thread.shutdown();
    dialled.thread.shutdown();
  }
}
