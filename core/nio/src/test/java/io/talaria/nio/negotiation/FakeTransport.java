// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A transport that carries nothing and remembers what it was asked. */
final class FakeTransport implements TransportProvider {
  final List<Peer> peers = new CopyOnWriteArrayList<>();
  final List<Peer> accepted = new CopyOnWriteArrayList<>();
  final List<Peer> gone = new CopyOnWriteArrayList<>();
  final List<Reason> cancelled = new CopyOnWriteArrayList<>();
  final AtomicInteger offers = new AtomicInteger();
  final AtomicInteger answers = new AtomicInteger();
  final AtomicInteger sweeps = new AtomicInteger();
  final AtomicInteger released = new AtomicInteger();
  final AtomicInteger withdrawn = new AtomicInteger();

  /** What happens with a message of the peer's. */
  volatile Consumer<ByteBuffer> onMessage = message -> {};

  /** How long the payload of an offer is. */
  volatile int payloadBytes = 4;

  /** Whether it is still finding out what {@link #unavailable} answers then. */
  volatile boolean starting;

  volatile Reason unavailable;

  volatile NioTransport kind = NioTransport.SHM;

  /** Whether its streams are bound to where they are made. */
  volatile boolean places;

  /** If set, peers cannot be opened, accepted or answered for this reason. */
  volatile Reason refusal;

  /** If set, thrown where it is asked for availability, answers, and ends of peers. */
  volatile RuntimeException unavailableThrows;

  volatile RuntimeException answerThrows;
  volatile RuntimeException goneThrows;

  /** If set, answers make no sense, for this reason. */
  volatile Reason senseless;

  private static void throwIfSet(RuntimeException failure) {
    if (failure != null) {
      throw failure;
    }
  }

  /** If set, streams turn out to be worthless for this reason once they are answered. */
  volatile Reason worthless;

  @Override
  public String name() {
    return "fake";
  }

  @Override
  public NioTransport kind() {
    return kind;
  }

  @Override
  public boolean starting() {
    return starting;
  }

  @Override
  public Reason unavailable() {
    if (starting) {
      throw new AssertionError("somebody would wait");
    }
    throwIfSet(unavailableThrows);
    return unavailable;
  }

  @Override
  public boolean joinsNamespaces() {
    return true;
  }

  @Override
  public boolean placesStreams() {
    return places;
  }

  @Override
  public ReadySet openReadySet() {
    return null;
  }

  @Override
  public ByteBuffer openPeer(Peer peer) throws TransportException {
    check();
    peers.add(peer);
    peer.attach(this);
    return ByteBuffer.wrap(new byte[] {'o', 'p', 'e', 'n'});
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws TransportException {
    check();
    peers.add(peer);
    peer.attach(this);
  }

  @Override
  public void peerAccepted(Peer peer) {
    accepted.add(peer);
  }

  @Override
  public Upgrade offer(Peer peer) {
    return new FakeUpgrade(offers.incrementAndGet());
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws TransportException {
    check();
    throwIfSet(answerThrows);
    return new FakeUpgrade(answers.incrementAndGet());
  }

  private void check() throws TransportException {
    refuseIfSet(refusal);
  }

  private static void refuseIfSet(Reason reason) throws TransportException {
    if (reason != null) {
      throw new TransportException(reason, "as the test wants");
    }
  }

  @Override
  public void received(Peer peer, ByteBuffer message) {
    onMessage.accept(message);
  }

  @Override
  public void peerGone(Peer peer) {
    gone.add(peer);
    throwIfSet(goneThrows);
  }

  @Override
  public void sweep() {
    sweeps.incrementAndGet();
  }

  @Override
  public void exit() {}

  private final class FakeUpgrade implements Upgrade {
    private final int number;
    private final TransportStream stream =
        (TransportStream)
            Proxy.newProxyInstance(
                TransportStream.class.getClassLoader(),
                new Class<?>[] {TransportStream.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "release" -> {
                        released.incrementAndGet();
                        yield null;
                      }
                      case "withdraw" -> {
                        withdrawn.incrementAndGet();
                        yield true;
                      }
                      case "hashCode" -> System.identityHashCode(proxy);
                      case "equals" -> proxy == arguments[0];
                      case "toString" -> "a stream that goes nowhere";
                      default ->
                          method.getReturnType() == boolean.class
                              ? (Object) false
                              : method.getReturnType() == int.class ? (Object) 0 : null;
                    });

    FakeUpgrade(int number) {
      this.number = number;
    }

    @Override
    public ByteBuffer payload() {
      return ByteBuffer.allocate(payloadBytes).putInt(0, number);
    }

    @Override
    public void answered(ByteBuffer payload) throws TransportException {
      refuseIfSet(senseless);
    }

    @Override
    public Reason worthless() {
      return worthless;
    }

    @Override
    public TransportStream stream() {
      return stream;
    }

    @Override
    public void cancel(Reason reason) {
      cancelled.add(reason);
    }
  }
}
