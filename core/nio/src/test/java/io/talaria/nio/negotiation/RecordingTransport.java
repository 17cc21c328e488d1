// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.shm.ShmTransport;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The shared-memory transport, and the peers it has met. */
final class RecordingTransport implements TransportProvider {
  final List<Peer> peers = new CopyOnWriteArrayList<>();
  private final ShmTransport shm;

  RecordingTransport(Path directory, int ringBytes) {
    shm =
        new ShmTransport(
            new PrivateDirectory(directory, Reason.NO_SHM_DIR), ringBytes, 4 * ringBytes);
  }

  @Override
  public String name() {
    return shm.name();
  }

  @Override
  public NioTransport kind() {
    return shm.kind();
  }

  @Override
  public Reason unavailable() {
    return shm.unavailable();
  }

  @Override
  public ReadySet openReadySet() {
    return shm.openReadySet();
  }

  @Override
  public ByteBuffer openPeer(Peer peer) throws TransportException {
    ByteBuffer payload = shm.openPeer(peer);
    peers.add(peer);
    return payload;
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws TransportException {
    shm.acceptPeer(peer, payload);
    peers.add(peer);
  }

  @Override
  public void peerAccepted(Peer peer) {
    shm.peerAccepted(peer);
  }

  @Override
  public Upgrade offer(Peer peer) throws TransportException {
    return shm.offer(peer);
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws TransportException {
    return shm.answer(peer, payload);
  }

  @Override
  public void received(Peer peer, ByteBuffer message) throws TransportException {
    shm.received(peer, message);
  }

  @Override
  public void peerGone(Peer peer) {
    shm.peerGone(peer);
  }

  @Override
  public void sweep() {
    shm.sweep();
  }

  @Override
  public void exit() {
    shm.exit();
  }
}
