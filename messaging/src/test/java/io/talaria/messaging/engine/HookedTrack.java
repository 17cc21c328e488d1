// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.road.Lane;
import io.talaria.messaging.road.Track;
import java.nio.channels.SocketChannel;

/**
 * A track at which something happens between the last look of whoever has the inlet, and its end.
 */
final class HookedTrack extends Track {
  private final Track road;
  private final Thread thread;
  private Runnable hook;

  /**
   * Puts a hook on a road.
   *
   * @param hook run once, when the calling thread has found nothing more on express
   */
  HookedTrack(Track road, Runnable hook) {
    this.road = road;
    this.hook = hook;
    thread = Thread.currentThread();
  }

  @Override
  public boolean goesOn(int lane) {
    boolean goesOn = road.goesOn(lane);
    if (lane == Lane.EXPRESS && Thread.currentThread() == thread && hook != null) {
      Runnable now = hook;
      hook = null;
      now.run();
    }
    return goesOn;
  }

  @Override
  public String road() {
    return road.road();
  }

  @Override
  public String reason() {
    return road.reason();
  }

  @Override
  public RingProducer out(int lane) {
    return road.out(lane);
  }

  @Override
  public int maxCapacity(int lane) {
    return road.maxCapacity(lane);
  }

  @Override
  public boolean canGrow(int lane) {
    return road.canGrow(lane);
  }

  @Override
  public boolean mayGrow(int lane) {
    return road.mayGrow(lane);
  }

  @Override
  public boolean grows(int lane, RingProducer sealed) {
    return road.grows(lane, sealed);
  }

  @Override
  public boolean grow(int lane) {
    return road.grow(lane);
  }

  @Override
  public void seal(int lane) {
    road.seal(lane);
  }

  @Override
  public boolean moveOn(int lane) {
    return road.moveOn(lane);
  }

  @Override
  public Inlet in(int lane) {
    return road.in(lane);
  }

  @Override
  public SocketChannel session() {
    return road.session();
  }

  @Override
  public void wakePeer() {
    road.wakePeer();
  }

  @Override
  public boolean push() {
    return road.push();
  }

  @Override
  public boolean copies() {
    return road.copies();
  }

  @Override
  public boolean readsSession() {
    return road.readsSession();
  }

  @Override
  public boolean pushInTurn() {
    return road.pushInTurn();
  }

  @Override
  public boolean bring() {
    return road.bring();
  }

  @Override
  public boolean blocked() {
    return road.blocked();
  }

  @Override
  public void unblock() {
    road.unblock();
  }

  @Override
  public boolean pull() {
    return road.pull();
  }

  @Override
  public void published(int lane) {
    road.published(lane);
  }

  @Override
  public void arm(int lane) {
    road.arm(lane);
  }

  @Override
  public void disarm(int lane) {
    road.disarm(lane);
  }

  @Override
  public boolean armOutput() {
    return road.armOutput();
  }

  @Override
  public void disarmOutput() {
    road.disarmOutput();
  }

  @Override
  public void finishOutput() {
    road.finishOutput();
  }

  @Override
  public boolean over() {
    return road.over();
  }

  @Override
  public boolean severed() {
    return road.severed();
  }

  @Override
  public String state() {
    return road.state();
  }

  @Override
  public void close() {
    road.close();
  }
}
