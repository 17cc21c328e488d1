// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.context.Context;
import io.talaria.nio.counters.SelectorCounters;
import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.SelectorReadySets;
import io.talaria.nio.transport.TransportProvider;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A selector over transports and over the JDK's own selector: what the contract asks of it, and the
 * course of one select.
 *
 * <p>What the transports have ready comes from a list of <em>active</em> keys: those that were
 * ready lately and are looked at directly, and those that a hint has brought back. A key leaves the
 * list after a while without anything to report, once a watch is set that brings it back. All other
 * channels, and the control connections of accelerated ones, are in the JDK's selector, in which
 * this one also sleeps.
 *
 * <p>Locks as in the JDK: this, then the selected-key set; fields without a comment, and the parts,
 * are confined to the thread that holds both.
 */
final class TalariaSelector extends AbstractSelector {
  /** An error of lost memory may come again, late, from what was touched before the first. */
  private static final int MAX_FAULTS = 3;

  private static final long NS_PER_MS = 1_000_000;

  private final Context context;
  private final SelectorCounters counters;
  private final InnerSelector inner;
  private final SelectorReadySets readySets;
  private final ChangedKeys changes = new ChangedKeys();
  private final ReadyKeys ready = new ReadyKeys(this);
  private final Registrations registrations;
  private final TransportLook transports;
  private final ControlLook control;
  private final SelectorSleep sleep;
  private final Runnable wakeSleeper;

  /** Keys whose channels still know them; the selecting thread's, while it removes keys. */
  private final List<TalariaSelectionKey> released = new ArrayList<>();

  private boolean selecting;

  /** When a select with a time-out that sleeps is over, else 0. */
  private long deadlineNs;

  TalariaSelector(Context context) throws IOException {
    super(context.provider());
    this.context = context;
    counters = context.counters().selector();
    inner = new InnerSelector(context.jdk().openSelector(), counters, this::innerReady);
    readySets = new SelectorReadySets(context.transports(), inner::sleepOn, this::readySetOpened);
    ActiveKeys active = new ActiveKeys();
    registrations = new Registrations(this, inner, readySets, active, ready, changes);
    transports = new TransportLook(this, registrations, readySets, active, ready);
    control = new ControlLook(inner, active, ready);
    Spinner spinner = new Spinner(context.spinning());
    sleep = new SelectorSleep(inner, readySets, changes, transports, ready, spinner);
    wakeSleeper = sleep::wakeSleeper;
  }

  private void innerReady(SelectionKey below) {
    control.innerReady(below);
  }

  /** Any thread. */
  private void readySetOpened() {
    changes.mark(); // so that the selecting thread sees it
    sleep.wakeSleeper();
  }

  // ---- for keys and channels: any thread

  /** The ready set in a transport that places its streams, or null. */
  ReadySet readySet(TransportProvider transport) {
    return transport.placesStreams() ? readySets.in(transport) : readySets.ifOpen(transport);
  }

  /** A key's interest has changed, or its channel has: seen by the next pass. */
  void changed(TalariaSelectionKey key) {
    changes.add(key);
  }

  /**
   * A channel has news that a sleeping selector must see. The negotiation thread, which may have
   * news of many, wakes it once for them.
   */
  void nudge(TalariaSelectionKey key) {
    changes.add(key);
    context.negotiator().onceATurn(wakeSleeper);
  }

  /**
   * This select has done with wake-ups: those that come while it runs the program's actions are for
   * the next one, as on the JDK. The selecting thread.
   */
  void forgetWakeUp() {
    sleep.forgetWakeUp();
  }

  void ensureOpen() {
    if (!isOpen()) {
      throw new ClosedSelectorException();
    }
  }

  // ---- the contract's outside

  @Override
  public Set<SelectionKey> keys() {
    ensureOpen();
    return registrations.view();
  }

  @Override
  public Set<SelectionKey> selectedKeys() {
    ensureOpen();
    return ready.selected();
  }

  @Override
  public int selectNow() throws IOException {
    return selectWith(null, 0);
  }

  @Override
  public int select(long timeoutMs) throws IOException {
    return selectWith(null, checked(timeoutMs));
  }

  @Override
  public int select() throws IOException {
    return selectWith(null, -1);
  }

  @Override
  public int select(Consumer<SelectionKey> action, long timeoutMs) throws IOException {
    Objects.requireNonNull(action);
    return selectWith(action, checked(timeoutMs));
  }

  @Override
  public int select(Consumer<SelectionKey> action) throws IOException {
    Objects.requireNonNull(action);
    return selectWith(action, -1);
  }

  @Override
  public int selectNow(Consumer<SelectionKey> action) throws IOException {
    Objects.requireNonNull(action);
    return selectWith(action, 0);
  }

  private static long checked(long timeoutMs) {
    if (timeoutMs < 0) {
      throw new IllegalArgumentException("Negative timeout");
    }
    return timeoutMs == 0 ? -1 : timeoutMs;
  }

  @Override
  public Selector wakeup() {
    sleep.wakeUp();
    return this;
  }

  @Override
  protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
    TalariaSelectionKey key = new TalariaSelectionKey(this, channel);
    key.attach(attachment);
    ensureOpen();
    registrations.register(key, ops);
    return key;
  }

  // ---- one select

  /** Time-out in milliseconds: 0 for a look, -1 for any time. */
  private int selectWith(Consumer<SelectionKey> action, long timeoutMs) throws IOException {
    synchronized (this) {
      ensureOpen();
      if (selecting) {
        throw new IllegalStateException("select in progress");
      }
      selecting = true;
      ready.begin(action);
      synchronized (ready.selected()) {
        try {
          selectGuarded(timeoutMs);
        } finally {
          if (!ready.acted()) { // else it has forgotten what came before, and keeps what came since
            forgetWakeUp();
          }
          ready.end();
          selecting = false;
        }
      }
      counters.selected();
      return ready.found();
    }
  }

  /** Continues with all other streams when the memory of some is gone: see {@link Faults}. */
  private void selectGuarded(long timeoutMs) throws IOException {
    deadlineNs = 0;
    for (int faults = 0; ; faults++) {
      try {
        if (faults > 0) {
          registrations.takeAllAgain();
        }
        selectOnce(faults == 0 || deadlineNs == 0 ? timeoutMs : leftMs());
        return;
      } catch (InternalError e) {
        if (ready.acting() || faults == MAX_FAULTS) {
          throw e; // the program's own, or no end of them
        }
        if (faults == 0) { // those that follow belong to the same memory, which is known by then
          context.examine(e);
        }
      }
    }
  }

  private long leftMs() {
    return roundedUpMs(Math.max(1, deadlineNs - System.nanoTime()));
  }

  private static long roundedUpMs(long ns) {
    return (ns - 1) / NS_PER_MS + 1; // without a sum that the longest time-outs would overflow
  }

  private void selectOnce(long timeoutMs) throws IOException {
    registrations.takeChanges(); // first: no look does once the removal has reported a key
    removeCancelled();
    look(timeoutMs);
    removeCancelled();
    Faults.pollSelect(ready.selects());
  }

  private void look(long timeoutMs) throws IOException {
    transports.pass();
    if (ready.seen()) {
      passIf(inner.lookIfDue());
    } else if (timeoutMs == 0 || !await(timeoutMs)) {
      passIf(inner.lookWhenEmpty(registrations.anyAttached()));
    }
  }

  /**
   * Spins and sleeps until something is ready, the time is over, or the program wants the select to
   * return. A thread that may not spin goes to sleep at once: sleeping in the JDK's selector begins
   * with a look there, and two would cost a system call for nothing.
   *
   * @return whether no look at the JDK's selector is due any more
   */
  @NotInlined
  private boolean await(long timeoutMs) throws IOException {
    deadlineNs = timeoutMs < 0 ? 0 : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    boolean looked =
        registrations.anyAttached()
            && sleep.spin(timeoutMs < 0 ? System.nanoTime() + Long.MAX_VALUE / 2 : deadlineNs);
    while (!sleep.wokenUp() && !Thread.currentThread().isInterrupted()) {
      removeCancelled(); // we do not hear cancelled keys, so no peer may ring us there
      if (ready.seen()) {
        return true;
      }
      long leftMs = 0;
      if (timeoutMs > 0) {
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs <= 0) {
          return looked;
        }
        leftMs = roundedUpMs(leftNs);
      }
      if (sleep.sleep(leftMs)) {
        looked = true;
      } else {
        passIf(inner.lookIfOld()); // hints without end must not hide what only it can see
      }
      transports.pass();
      if (ready.seen()) {
        return true;
      }
    }
    return looked || ready.seen();
  }

  private void passIf(boolean innerReady) {
    if (innerReady) {
      transports.pass();
    }
  }

  // ---- cancelling and closing

  private void removeCancelled() throws IOException {
    Set<SelectionKey> cancelled = cancelledKeys();
    if (cancelled.isEmpty()) { // another thread's cancel may be seen by the next select only
      return;
    }
    synchronized (cancelled) {
      Iterator<SelectionKey> each = cancelled.iterator();
      while (each.hasNext()) {
        TalariaSelectionKey key = (TalariaSelectionKey) each.next();
        if (key.removed || key.removable()) { // else another thread registers it: next time
          each.remove();
          if (!key.removed && key.isOfOurs() && isOpen()) {
            key.removed = true;
            registrations.forget(key);
            registrations.release(key);
            released.add(key);
          } else {
            remove(key);
          }
        }
      }
    }
    try {
      if (isOpen()) { // else closing the inner selector does it
        inner.flush(); // frees the descriptors of what was cancelled below
      }
    } finally {
      // Now only: a thread that finds the channel unregistered and registers it anew must not be
      // given the old key below, which is cancelled or about to be.
      for (TalariaSelectionKey key : released) {
        deregisterIfKnown(key);
        registrations.deregistered(key);
      }
      released.clear();
    }
  }

  private void remove(TalariaSelectionKey key) {
    if (key.removed) { // by a close, which removes valid keys too
      return;
    }
    key.removed = true;
    registrations.forget(key);
    deregisterIfKnown(key);
    registrations.release(key);
    registrations.deregistered(key);
  }

  private void deregisterIfKnown(TalariaSelectionKey key) {
    if (key.stage != TalariaSelectionKey.FAILED) { // Java 17 would trip over it
      deregister(key);
    }
  }

  /**
   * Removes every key, also those whose registration another thread is about to end. A valid key
   * becomes invalid in {@code deregister}, under the lock under which the channel's {@code
   * register} finds it: so that method either gets a valid key or registers anew, which a closed
   * selector refuses.
   */
  private void removeAll() throws IOException {
    while (removeKeys() || !cancelledKeys().isEmpty()) {
      removeCancelled();
      Thread.yield();
    }
  }

  /** Removes the keys that can be removed now; whether there were any. */
  private boolean removeKeys() {
    boolean any = false;
    for (SelectionKey each : registrations.view()) {
      any = true;
      TalariaSelectionKey key = (TalariaSelectionKey) each;
      if (key.removable()) {
        remove(key);
      }
    }
    return any;
  }

  @Override
  protected void implCloseSelector() throws IOException {
    sleep.wakeUpForClose();
    synchronized (this) {
      synchronized (ready.selected()) {
        removeAll();
        ready.selected().clear();
        readySets.refuse();
        try {
          inner.close();
        } finally { // Java 17's close trips over a registration that fails at the same time
          readySets.close();
          counters.close();
        }
      }
    }
  }

  @Override
  public String toString() {
    return "TalariaSelector[keys=" + registrations.view().size() + (isOpen() ? "]" : ", closed]");
  }
}
