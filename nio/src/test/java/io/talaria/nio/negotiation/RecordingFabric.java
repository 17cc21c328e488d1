// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.fabric.Peer;
import io.talaria.nio.fabric.Upgrade;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.shm.ShmFabric;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The shared-memory fabric, and the peers it has met. */
final class RecordingFabric implements Fabric {
  final List<Peer> peers = new CopyOnWriteArrayList<>();
  private final ShmFabric shm;

  RecordingFabric(Path directory, int ringBytes) {
    shm =
        new ShmFabric(new PrivateDirectory(directory, Reason.NO_SHM_DIR), ringBytes, 4 * ringBytes);
  }

  @Override
  public String name() {
    return shm.name();
  }

  @Override
  public Mode mode() {
    return shm.mode();
  }

  @Override
  public Reason unavailable() {
    return shm.unavailable();
  }

  @Override
  public Home openHome() {
    return shm.openHome();
  }

  @Override
  public ByteBuffer openPeer(Peer peer) throws FabricException {
    ByteBuffer payload = shm.openPeer(peer);
    peers.add(peer);
    return payload;
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws FabricException {
    shm.acceptPeer(peer, payload);
    peers.add(peer);
  }

  @Override
  public void peerAccepted(Peer peer) {
    shm.peerAccepted(peer);
  }

  @Override
  public Upgrade offer(Peer peer) throws FabricException {
    return shm.offer(peer);
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws FabricException {
    return shm.answer(peer, payload);
  }

  @Override
  public void received(Peer peer, ByteBuffer message) throws FabricException {
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
