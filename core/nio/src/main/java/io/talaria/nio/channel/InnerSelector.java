// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.SelectorCounters;
import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.transport.ReadySet;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/**
 * The JDK's selector below one of ours: everything that has a descriptor is registered there, with
 * our key attached. It is looked at now and then, and slept in. Confined to the selecting thread,
 * except what is marked.
 */
final class InnerSelector {
  /** An idle look at least this often while the transports are busy. */
  private static final long LOOK_NS = 50_000;

  /** Empty looks at the transports between two looks at the clock. */
  private static final int CLOCK_PASSES = 64;

  private final Selector inner;
  private final SelectorCounters counters;
  private final Consumer<SelectionKey> ready;

  /** Keys that only this one can tell to be ready. */
  private int foreign;

  /** The program wants to know something new: an old look does not do, as on the JDK. */
  private boolean changed;

  private int passes;
  private long lookedNs;

  /**
   * @param inner owned from now on
   * @param ready told of each key that has something
   */
  InnerSelector(Selector inner, SelectorCounters counters, Consumer<SelectionKey> ready) {
    this.inner = inner;
    this.counters = counters;
    this.ready = ready;
  }

  // ---- any thread

  /** Registers a channel of the JDK's, without interest yet. */
  SelectionKey register(SelectableChannel channel, TalariaSelectionKey key)
      throws ClosedChannelException {
    if (channel.keyFor(inner) != null) { // of a registration that is being removed
      throw new CancelledKeyException();
    }
    return channel.register(inner, 0, key);
  }

  /** Sleeps on a ready set, too; false if this selector is closed. */
  boolean sleepOn(ReadySet readySet) {
    SelectableChannel event = readySet.selectable();
    try {
      if (event != null) {
        event.register(inner, SelectionKey.OP_READ, readySet);
      }
      return true;
    } catch (ClosedSelectorException e) {
      return false;
    } catch (ClosedChannelException e) {
      throw new IllegalStateException("the event channel of a new ready set is closed", e);
    }
  }

  void wakeup() {
    inner.wakeup();
  }

  // ---- interest

  /**
   * Sets what is listened to for a key.
   *
   * @param ops of SelectionKey
   * @param fast whether the transport tells all there is to tell, and only doorbells come here
   */
  void interest(TalariaSelectionKey key, int ops, boolean fast) {
    try {
      SelectionKey below = key.inner;
      int before = key.innerOps;
      if (before != ops) {
        if (before == TalariaSelectionKey.UNKNOWN_OPS) { // the JDK takes up changes only
          below.interestOps(ops == 0 ? below.channel().validOps() : 0);
        }
        below.interestOps(ops);
        key.innerOps = ops;
        changed |= ops != 0 && !fast;
      }
      count(key, ops != 0 && !fast);
    } catch (CancelledKeyException e) {
      // The channel is closing; its key goes with the next pass.
    }
  }

  private void count(TalariaSelectionKey key, boolean counts) {
    if (counts != key.countsAsForeign) {
      key.countsAsForeign = counts;
      foreign += counts ? 1 : -1;
    }
  }

  /** A key is removed. Its descriptor is free after {@link #flush}. */
  void remove(TalariaSelectionKey key) {
    count(key, false);
    SelectionKey below = key.inner;
    if (below != null) {
      below.cancel();
    }
  }

  // ---- looking: each tells whether there was anything

  /** After a look at the transports that found nothing. */
  boolean lookWhenEmpty(boolean transports) throws IOException {
    if (foreign > 0 || !transports) {
      return look();
    }
    if (++passes >= CLOCK_PASSES) {
      passes = 0;
      return lookIfOld();
    }
    return false;
  }

  /** After a look at the transports that found something. */
  boolean lookIfDue() throws IOException {
    if (changed || foreign > 0 || ++passes >= CLOCK_PASSES / 8) {
      passes = 0;
      return lookIfOld();
    }
    return false;
  }

  boolean lookIfOld() throws IOException {
    long now = System.nanoTime();
    if (changed || now - lookedNs > LOOK_NS) {
      lookedNs = now;
      Faults.take();
      return look();
    }
    return false;
  }

  private boolean look() throws IOException {
    counters.innerSelected();
    changed = false;
    return inner.selectNow(ready) > 0;
  }

  /** Frees the descriptors of what was cancelled. */
  void flush() throws IOException {
    inner.selectNow(ready);
  }

  /**
   * Sleeps until something is ready, or a thread calls {@link #wakeup}.
   *
   * @param timeoutMs milliseconds, 0 for any time
   */
  @NotInlined
  void sleep(long timeoutMs) throws IOException {
    counters.innerSelected();
    Faults.take(); // or it would come up in the middle of the JDK's selector
    changed = false;
    inner.select(ready, timeoutMs);
    counters.wokenUp();
    lookedNs = System.nanoTime();
  }

  void close() throws IOException {
    inner.close();
  }
}
