// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.RingPair;
import java.nio.channels.SocketChannel;

/**
 * A link at which something happens between the last look of the thread that has the ring receiver,
 * and its end.
 */
class HookedLink extends Link {
  private final Link transport;
  private final Thread thread;
  private Runnable hook;

  /**
   * Puts a hook on a transport.
   *
   * @param hook run once, when the calling thread has found nothing more on the control ring
   */
  HookedLink(Link transport, Runnable hook) {
    this.transport = transport;
    this.hook = hook;
    thread = Thread.currentThread();
  }

  @Override
  public boolean goesOn(int priority) {
    boolean goesOn = transport.goesOn(priority);
    if (priority == RingPair.CONTROL && Thread.currentThread() == thread && hook != null) {
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
  public RingProducer out(int priority) {
    return transport.out(priority);
  }

  @Override
  public int maxCapacity(int priority) {
    return transport.maxCapacity(priority);
  }

  @Override
  public boolean canGrow(int priority) {
    return transport.canGrow(priority);
  }

  @Override
  public boolean mayGrow(int priority) {
    return transport.mayGrow(priority);
  }

  @Override
  public boolean grows(int priority, RingProducer sealed) {
    return transport.grows(priority, sealed);
  }

  @Override
  public boolean grow(int priority) {
    return transport.grow(priority);
  }

  @Override
  public void seal(int priority) {
    transport.seal(priority);
  }

  @Override
  public boolean moveOn(int priority) {
    return transport.moveOn(priority);
  }

  @Override
  public RingReceiver in(int priority) {
    return transport.in(priority);
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
  public void published(int priority) {
    transport.published(priority);
  }

  @Override
  public void arm(int priority) {
    transport.arm(priority);
  }

  @Override
  public void disarm(int priority) {
    transport.disarm(priority);
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
  public void sever() {
    transport.sever();
  }

  @Override
  public boolean outputLost() {
    return transport.outputLost();
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
