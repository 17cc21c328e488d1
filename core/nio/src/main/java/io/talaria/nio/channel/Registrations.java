// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.SelectorReadySets;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The keys of one selector, from their registration to their removal: has the JDK's selector, the
 * list of active keys and the streams' ready sets follow what the program changes. Confined to the
 * selecting thread, except what is marked.
 */
final class Registrations {
  private final TalariaSelector selector;
  private final InnerSelector inner;
  private final SelectorReadySets readySets;
  private final ActiveKeys active;
  private final ReadyKeys ready;
  private final ChangedKeys changes;
  private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
  private final Set<SelectionKey> view = Collections.unmodifiableSet(keys);

  /** Keys whose streams have their ready sets by this selector. */
  private int attached;

  Registrations(
      TalariaSelector selector,
      InnerSelector inner,
      SelectorReadySets readySets,
      ActiveKeys active,
      ReadyKeys ready,
      ChangedKeys changes) {
    this.selector = selector;
    this.inner = inner;
    this.readySets = readySets;
    this.active = active;
    this.ready = ready;
    this.changes = changes;
  }

  // ---- any thread

  /** The keys, as the program sees them. */
  Set<SelectionKey> view() {
    return view;
  }

  /**
   * Registers a new key, or throws.
   *
   * @param ops interest, which the channel has checked
   */
  void register(TalariaSelectionKey key, int ops) {
    keys.add(key);
    try {
      if (key.channel() instanceof Registrable ours) {
        key.inner = inner.register(ours.control(), key);
        ours.keys().add(key);
      } else if (JdkNio.isJdkChannel(key.channel())) {
        key.inner = inner.register(key.channel(), key);
      } else {
        throw new IllegalSelectorException();
      }
      key.firstInterest(ops); // a thread that sees the key in keys() may have cancelled it
      changes.add(key);
      selector
          .ensureOpen(); // a close that began before the key was among ours has not cancelled it
      key.stage = TalariaSelectionKey.REGISTERED;
    } catch (ClosedChannelException e) {
      keys.remove(key);
      key.stage = TalariaSelectionKey.REGISTERED;
      key.cancel();
    } catch (RuntimeException e) {
      takeBack(key);
      throw e;
    }
  }

  /** Takes back the registration of a key that no program thread has seen yet. */
  private void takeBack(TalariaSelectionKey key) {
    keys.remove(key);
    key.stage = TalariaSelectionKey.FAILED;
    key.cancel();
    if (key.inner != null) {
      key.inner.cancel();
    }
    if (key.channel() instanceof Registrable ours) {
      ours.keys().remove(key);
    }
  }

  // ---- changes

  /** Whether a stream has its ready set by this selector. */
  boolean anyAttached() {
    return attached > 0;
  }

  /** Takes up what has changed since the last time. */
  void takeChanges() {
    while (changes.some()) {
      TalariaSelectionKey key = changes.poll();
      if (key != null && key.isValid()) {
        apply(key); // without the queue's lock: it takes locks of the channel
      }
    }
  }

  /** Takes up all keys once more, since it is unknown how far the last look had come. */
  void takeAllAgain() {
    for (SelectionKey each : keys) {
      TalariaSelectionKey key = (TalariaSelectionKey) each;
      key.innerOps = TalariaSelectionKey.UNKNOWN_OPS;
      changes.add(key);
    }
  }

  /** Brings the JDK's selector and the active list in line with a key. */
  private void apply(TalariaSelectionKey key) {
    int ops = key.interest();
    ConnectionPath connectionPath = key.socket == null ? null : key.socket.connectionPath();
    boolean fast = connectionPath != null && connectionPath.attached();
    if (fast) {
      connectionPath.switchOutIfEstablished();
      settle(key, connectionPath);
      if (connectionPath.switchedOut()) {
        key.deaf = connectionPath.deaf();
        ops = connectionPath.controlOpen() && !key.deaf ? SelectionKey.OP_READ : 0;
      }
    }
    inner.interest(key, ops, fast && connectionPath.switched());
    if (connectionPath != null && connectionPath.stream() != null) {
      active.add(key);
    }
  }

  /** Finds the stream of a key its ready set, once it is waited for here, or by nobody else. */
  private void settle(TalariaSelectionKey key, ConnectionPath connectionPath) {
    boolean alone = !key.settled && key.socket.keys().all().length == 1;
    boolean begins = key.waits() && !key.waited;
    if (!alone && !begins) {
      return;
    }
    if (!key.settled) {
      key.settled = true;
      attached++;
    }
    Membership membership = connectionPath.membership();
    membership.settle(key, readySets.in(connectionPath.stream().transport()));
    if (membership.shared()) {
      nudgeOthers(key);
    }
  }

  /** Has all other selectors of a key's channel look at it. */
  static void nudgeOthers(TalariaSelectionKey key) {
    TalariaSelectionKey[] all = key.socket.keys().all();
    if (all.length > 1) {
      for (TalariaSelectionKey other : all) {
        if (other != key) { // a cancelled one too: its selector may sleep, and be rung here
          other.owner().nudge(other);
        }
      }
    }
  }

  // ---- removal, in two steps: between them the channel forgets the key

  /** The first step: it is not reported any more. */
  void forget(TalariaSelectionKey key) {
    keys.remove(key);
    ready.selected().remove(key);
    active.remove(key);
  }

  /** The second step: lets go of what the key had. */
  void release(TalariaSelectionKey key) {
    inner.remove(key);
    if (key.channel() instanceof Registrable ours) {
      ours.keys().remove(key);
      if (key.settled) {
        key.settled = false;
        attached--;
        unsettle(key, ours);
      }
    }
  }

  /** The last step, when the channel does not know the key any more. */
  void deregistered(TalariaSelectionKey key) {
    if (key.channel() instanceof Registrable ours) {
      ours.deregistered();
    } else if (!key.channel().isOpen() && !key.channel().isRegistered()) {
      // The JDK's selector may have let go of it before, while it was still registered here.
      JdkNio.free(key.channel());
    }
  }

  private void unsettle(TalariaSelectionKey key, Registrable ours) {
    TalariaSelectionKey[] others = ours.keys().all();
    ConnectionPath connectionPath = key.socket.connectionPath();
    ReadySet left = readySets.ifOpen(connectionPath.stream().transport());
    if (left != null) {
      connectionPath.membership().leave(left);
    }
    for (TalariaSelectionKey other : others) {
      other.owner().nudge(other);
    }
  }
}
