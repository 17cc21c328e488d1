// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.context;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.util.stream.Stream;

/** A transport that was asked for and is not there. */
final class MissingTransport implements TransportProvider {
  private final String name;
  private final NioTransport kind;
  private final String problem;

  /**
   * Creates it.
   *
   * @param name the code of one of {@link NioTransport}
   * @param problem why it is not there, a sentence that names it
   */
  MissingTransport(String name, String problem) {
    this.name = name;
    this.problem = problem;
    kind =
        Stream.of(NioTransport.values())
            .filter(each -> each.code().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("there is no transport " + name));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public NioTransport kind() {
    return kind;
  }

  @Override
  public Reason unavailable() {
    return Reason.NO_UCX;
  }

  @Override
  public String problem() {
    return problem;
  }

  @Override
  public boolean placesStreams() {
    return true;
  }

  @Override
  public ReadySet openReadySet() {
    return null;
  }

  @Override
  public ByteBuffer openPeer(Peer peer) throws TransportException {
    throw missing();
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws TransportException {
    throw missing();
  }

  @Override
  public void peerAccepted(Peer peer) {
    // There is none.
  }

  @Override
  public Upgrade offer(Peer peer) throws TransportException {
    throw missing();
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws TransportException {
    throw missing();
  }

  @Override
  public void received(Peer peer, ByteBuffer message) throws TransportException {
    throw missing();
  }

  @Override
  public void peerGone(Peer peer) {
    // There is none.
  }

  @Override
  public void exit() {
    // Nothing is to be sent.
  }

  private TransportException missing() {
    return new TransportException(Reason.NO_UCX, problem);
  }
}
