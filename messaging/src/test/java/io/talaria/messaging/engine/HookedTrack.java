// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.transport.Lane;
import io.talaria.messaging.transport.Track;
import java.nio.channels.SocketChannel;

/**
 * A track at which something happens between the last look of whoever has the inlet, and its end.
 */
final class HookedTrack extends Track {
  private final Track transport;
  private final Thread thread;
  private Runnable hook;

  /**
   * Puts a hook on a transport.
   *
   * @param hook run once, when the calling thread has found nothing more on express
   */
  HookedTrack(Track transport, Runnable hook) {
    this.transport = transport;
    this.hook = hook;
    thread = Thread.currentThread();
  }

  @Override
  public boolean goesOn(int lane) {
    boolean goesOn = transport.goesOn(lane);
    if (lane == Lane.EXPRESS && Thread.currentThread() == thread && hook != null) {
      Runnable now = hook;
      hook = null;
      now.run();
    }
    return goesOn;
  }

  @Override
  public String transport() {
    return transport.transport();
  }

  @Override
  public String reason() {
    return transport.reason();
  }

  @Override
  public RingProducer out(int lane) {
    return transport.out(lane);
  }

  @Override
  public int maxCapacity(int lane) {
    return transport.maxCapacity(lane);
  }

  @Override
  public boolean canGrow(int lane) {
    return transport.canGrow(lane);
  }

  @Override
  public boolean mayGrow(int lane) {
    return transport.mayGrow(lane);
  }

  @Override
  public boolean grows(int lane, RingProducer sealed) {
    return transport.grows(lane, sealed);
  }

  @Override
  public boolean grow(int lane) {
    return transport.grow(lane);
  }

  @Override
  public void seal(int lane) {
    transport.seal(lane);
  }

  @Override
  public boolean moveOn(int lane) {
    return transport.moveOn(lane);
  }

  @Override
  public Inlet in(int lane) {
    return transport.in(lane);
  }

  @Override
  public SocketChannel session() {
    return transport.session();
  }

  @Override
  public void wakePeer() {
    transport.wakePeer();
  }

  @Override
  public boolean push() {
    return transport.push();
  }

  @Override
  public boolean copies() {
    return transport.copies();
  }

  @Override
  public boolean readsSession() {
    return transport.readsSession();
  }

  @Override
  public boolean pushInTurn() {
    return transport.pushInTurn();
  }

  @Override
  public boolean bring() {
    return transport.bring();
  }

  @Override
  public boolean blocked() {
    return transport.blocked();
  }

  @Override
  public void unblock() {
    transport.unblock();
  }

  @Override
  public boolean pull() {
    return transport.pull();
  }

  @Override
  public void published(int lane) {
    transport.published(lane);
  }

  @Override
  public void arm(int lane) {
    transport.arm(lane);
  }

  @Override
  public void disarm(int lane) {
    transport.disarm(lane);
  }

  @Override
  public boolean armOutput() {
    return transport.armOutput();
  }

  @Override
  public void disarmOutput() {
    transport.disarmOutput();
  }

  @Override
  public void finishOutput() {
    transport.finishOutput();
  }

  @Override
  public boolean over() {
    return transport.over();
  }

  @Override
  public boolean severed() {
    return transport.severed();
  }

  @Override
  public String state() {
    return transport.state();
  }

  @Override
  public void close() {
    transport.close();
  }
}
