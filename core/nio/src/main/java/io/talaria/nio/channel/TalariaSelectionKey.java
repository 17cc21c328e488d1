// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;

/**
 * A registration with a {@link TalariaSelector}. The selector's own fields are confined to the
 * thread that selects.
 */
final class TalariaSelectionKey extends AbstractSelectionKey {
  /** The three ways to change the interest must not lose each other's changes. */
  private static final VarHandle INTEREST;

  static {
    try {
      INTEREST =
          MethodHandles.lookup().findVarHandle(TalariaSelectionKey.class, "interest", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final TalariaSelector selector;
  private final SelectableChannel channel;

  /** The channel if it is one of ours that may be accelerated, else null. */
  final TalariaSocketChannel socket;

  /** The key of the channel underneath with the JDK's selector; set once at registration. */
  volatile SelectionKey inner;

  private volatile int interest;
  private volatile int ready;

  // The selector's.
  int selectedIndex = -1;
  int activeIndex = -1;
  int emptyLooks;

  /** Number of the last hint for this key, counted by its selector; and whether hints are rare. */
  long hintedAt;

  boolean rare;

  /** The select that last counted the key, or gave it to an action: once per select. */
  long countedIn;

  int innerOps;

  /**
   * In place of {@link #innerOps}: an error may have kept the JDK's selector from taking them up.
   */
  static final int UNKNOWN_OPS = -1;

  boolean countsAsForeign;

  /** Whether no doorbell is heard until the program reads: see {@link ConnectionPath#deaf}. */
  boolean deaf;

  /** Whether the channel's stream has been given its ready set here, if it needs one. */
  boolean settled;

  /** Whether the selector has ever waited for the stream. Guarded by {@link Membership}. */
  boolean waited;

  /** Whether the selector has removed the key everywhere. */
  boolean removed;

  /** It is being registered: the channel does not know it yet. */
  static final int REGISTERING = 0;

  /** Our part of its registration is done; the channel knows it, or will in a moment. */
  static final int REGISTERED = 1;

  /** It came to nothing: the channel will never know it. */
  static final int FAILED = 2;

  /** How far its registration is. Written by the registering thread. */
  volatile int stage = REGISTERING;

  /** Guarded by the selector's queue of changed keys. */
  boolean changeQueued;

  TalariaSelectionKey(TalariaSelector selector, SelectableChannel channel) {
    this.selector = selector;
    this.channel = channel;
    socket = channel instanceof TalariaSocketChannel ours ? ours : null;
  }

  @Override
  public SelectableChannel channel() {
    return channel;
  }

  /** Whether the channel is Talaria's, so that the one below it is known to the JDK's selector. */
  boolean isOfOurs() {
    return channel instanceof Registrable;
  }

  @Override
  public Selector selector() {
    return selector;
  }

  TalariaSelector owner() {
    return selector;
  }

  @Override
  public int interestOps() {
    ensureValid();
    return interest;
  }

  @Override
  public SelectionKey interestOps(int ops) {
    ensureValid();
    checkWithinValidOps(ops);
    changedFrom((int) INTEREST.getAndSet(this, ops), ops);
    return this;
  }

  @Override
  public int interestOpsOr(int ops) {
    ensureValid();
    checkWithinValidOps(ops);
    int before = (int) INTEREST.getAndBitwiseOr(this, ops);
    changedFrom(before, before | ops);
    return before;
  }

  @Override
  public int interestOpsAnd(int ops) {
    ensureValid();
    int before = (int) INTEREST.getAndBitwiseAnd(this, ops);
    changedFrom(before, before & ops);
    return before;
  }

  private void checkWithinValidOps(int ops) {
    if ((ops & ~channel.validOps()) != 0) {
      throw new IllegalArgumentException(
          "interest " + ops + " is not within the valid operations " + channel.validOps());
    }
  }

  private void changedFrom(int before, int now) {
    if (before != now) {
      selector.changed(this);
    }
  }

  /** The interest of the registration, whether the key is still valid or not. */
  void firstInterest(int ops) {
    interest = ops; // which the channel has checked
  }

  /** Whether all that must know of the key do, so that it can be removed everywhere. */
  boolean removable() {
    return stage == FAILED || (stage == REGISTERED && channel.keyFor(selector) == this);
  }

  @Override
  public int readyOps() {
    ensureValid();
    return ready;
  }

  /** Interest without the check for validity. */
  int interest() {
    return interest;
  }

  /** Whether the program wants to read or write. Any thread. */
  boolean waits() {
    return (interest & (OP_READ | OP_WRITE)) != 0;
  }

  int ready() {
    return ready;
  }

  void ready(int ops) {
    ready = ops;
  }

  private void ensureValid() {
    if (!isValid()) {
      throw new CancelledKeyException();
    }
  }

  @Override
  public String toString() {
    return "channel="
        + channel
        + ", selector="
        + selector
        + (isValid() ? ", interestOps=" + interest + ", readyOps=" + ready : ", invalid");
  }
}
