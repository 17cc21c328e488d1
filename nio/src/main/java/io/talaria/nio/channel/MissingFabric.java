// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.fabric.Peer;
import io.talaria.nio.fabric.Upgrade;
import java.nio.ByteBuffer;

/** A fabric that was asked for and is not there. */
final class MissingFabric implements Fabric {
  private final String name;
  private final String problem;

  MissingFabric(String name, String problem) {
    this.name = name;
    this.problem = problem;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Mode mode() {
    return Mode.UCX;
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
  public Home openHome() {
    return null;
  }

  @Override
  public ByteBuffer openPeer(Peer peer) throws FabricException {
    throw missing();
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws FabricException {
    throw missing();
  }

  @Override
  public void peerAccepted(Peer peer) {
    // There is none.
  }

  @Override
  public Upgrade offer(Peer peer) throws FabricException {
    throw missing();
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws FabricException {
    throw missing();
  }

  @Override
  public void received(Peer peer, ByteBuffer message) throws FabricException {
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

  private FabricException missing() {
    return new FabricException(Reason.NO_UCX, problem);
  }
}
