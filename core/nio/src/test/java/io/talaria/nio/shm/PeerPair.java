// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Two shared-memory transports in one process, joined by a session in memory, each with a
 * negotiation thread of its own. What goes wrong on those threads fails {@link #close}.
 */
final class PeerPair implements AutoCloseable {
  private static final long DEADLINE_S = 30;

  final Side dialler;
  final Side dialled;

  /** What both say is their process id; 0 if they do not say. */
  volatile long pid;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  PeerPair(Path directory, int ringBytes, int maxRingBytes) throws Exception {
    dialler = new Side(true, transport(directory, ringBytes, maxRingBytes));
    dialled = new Side(false, transport(directory, ringBytes, maxRingBytes));
    dialler.other = dialled;
    dialled.other = dialler;
    ByteBuffer region = dialler.call(() -> dialler.transport.openPeer(dialler));
    dialled.run(() -> dialled.transport.acceptPeer(dialled, region));
    dialler.run(() -> dialler.transport.peerAccepted(dialler));
  }

  static ShmTransport transport(Path directory, int ringBytes, int maxRingBytes) {
    return new ShmTransport(
        new PrivateDirectory(directory, Reason.NO_SHM_DIR), ringBytes, maxRingBytes);
  }

  /** Work on a negotiation thread. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  /** One process's half. */
  final class Side implements Peer {
    final ShmTransport transport;
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

    /** What the side says is the present turn of its thread. */
    volatile long turn = NO_TURN;

    Side(boolean initiator, ShmTransport transport) {
      this.initiator = initiator;
      this.transport = transport;
    }

    <T> T call(Callable<T> work) throws Exception {
      return thread.submit(work).get(DEADLINE_S, TimeUnit.SECONDS);
    }

    void run(Work work) throws Exception {
      call(
          () -> {
            work.run();
            return null;
          });
    }

    /** Waits until everything that was asked of this thread so far is done. */
    void settle() throws Exception {
      run(() -> {});
    }

    @Override
    public boolean initiator() {
      return initiator;
    }

    @Override
    public long pid() {
      return pid;
    }

    @Override
    public long turnNumber() {
      return turn;
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
      thread.execute(
          () -> {
            try {
              task.run();
            } catch (RuntimeException | Error e) {
              failures.add(e);
            }
          });
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

  /** Upgrades one more connection, as the negotiation does. */
  Connection connect() throws Exception {
    Upgrade offer = dialler.call(() -> dialler.transport.offer(dialler));
    Upgrade answer = dialled.call(() -> dialled.transport.answer(dialled, offer.payload()));
    dialler.run(() -> offer.answered(answer.payload()));
    return new Connection((ShmStream) offer.stream(), (ShmStream) answer.stream());
  }

  /** Has both sides look what rests. */
  void rest() throws Exception {
    dialler.run(dialler.transport::rest);
    dialled.run(dialled.transport::rest);
  }

  /** Waits until both negotiation threads have nothing left to do. */
  void settle() throws Exception {
    for (int i = 0; i < 4; i++) {
      dialler.settle();
      dialled.settle();
    }
  }

  void assertHealthy() {
    Throwable first = failures.peek();
    if (first != null) {
      throw new AssertionError("a negotiation thread failed: " + first, first);
    }
  }

  /** Ends the session at both sides. */
  @Override
  public void close() {
    try {
      settle();
      dialler.run(() -> dialler.transport.peerGone(dialler));
      dialled.run(() -> dialled.transport.peerGone(dialled));
      settle();
    } catch (Exception e) {
      throw new AssertionError("a negotiation thread failed: " + e, e);
    }
    dialler.thread.shutdown();
    dialled.thread.shutdown();
    assertHealthy();
  }
}
