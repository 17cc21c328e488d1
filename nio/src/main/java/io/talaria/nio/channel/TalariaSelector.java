// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.SelectorCounters;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.spin.Spinner;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Collections;
import java.util.Iterator;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A selector over fabrics and over the JDK's own selector.
 *
 * <p>What the fabrics have ready comes from a list of <em>active</em> keys: those that were ready
 * lately and are looked at directly, and those that a hint has brought back. A key leaves the list
 * after a while without anything to report, once a watch is set that brings it back. All other
 * channels, and the control connections of accelerated ones, are in the JDK's selector, in which
 * this one also sleeps.
 *
 * <p>Locks as in the JDK: this, then the selected-key set; fields without a comment are confined to
 * the thread that holds both.
 */
final class TalariaSelector extends AbstractSelector {
  /** Passes between two looks at the clock while spinning. */
  private static final int SPIN_PASSES = 16;

  /** An error of lost memory may come again, late, from what was touched before the first. */
  private static final int MOST_FAULTS = 3;

  private static final long NS_PER_MS = 1_000_000;

  private final Context context;
  private final Spinner spinner;
  private final InnerSelector inner;
  private final SelectorHomes homes;
  private final SelectorCounters counters;
  private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
  private final Set<SelectionKey> keysView = Collections.unmodifiableSet(keys);
  private final SelectedKeys selected = new SelectedKeys();
  private final ActiveKeys active = new ActiveKeys();
  private final Home.ReadySink hinted = this::hinted;
  private final ChangedKeys changes = new ChangedKeys();
  private volatile boolean wakeUp;
  private volatile boolean sleeping;

  private Consumer<SelectionKey> action;
  private boolean selecting;

  /** Whether the program's action is being run. */
  private boolean acting;

  /** When a select with a time-out that sleeps is over, else 0. */
  private long deadlineNs;

  private int found;

  /** Whether something is ready, be it news or known to the program already. */
  private boolean seen;

  /** Whether a key that waits is deaf: see {@link Lane#deaf}. */
  private boolean anyDeaf;

  private long selects;
  private int attached;

  TalariaSelector(Context context) throws IOException {
    super(context.provider());
    this.context = context;
    spinner = new Spinner(context.spinning());
    counters = context.counters().selector();
    inner = new InnerSelector(context.jdk().openSelector(), counters, this::innerReady);
    homes =
        new SelectorHomes(
            context.fabrics(),
            inner::sleepOn,
            () -> {
              changes.mark(); // whoever selects shall see it
              wakeSleeper();
            });
  }

  /** The home in a fabric that places its streams, or null. Any thread. */
  Home home(Fabric fabric) {
    return fabric.placesStreams() ? homes.in(fabric) : homes.ifOpen(fabric);
  }

  // ---- the contract's outside

  @Override
  public Set<SelectionKey> keys() {
    ensureOpen();
    return keysView;
  }

  @Override
  public Set<SelectionKey> selectedKeys() {
    ensureOpen();
    return selected;
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
    if (!wakeUp) {
      wakeUp = true;
      wakeSleeper();
    }
    return this;
  }

  private void wakeSleeper() {
    if (sleeping) {
      inner.wakeup();
    }
  }

  private void ensureOpen() {
    if (!isOpen()) {
      throw new ClosedSelectorException();
    }
  }

  // ---- registering

  @Override
  protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
    TalariaSelectionKey key = new TalariaSelectionKey(this, channel);
    key.attach(attachment);
    ensureOpen();
    keys.add(key);
    try {
      if (channel instanceof Registrable ours) {
        key.inner = inner.register(ours.control(), key);
        ours.keys().add(key);
      } else if (JdkNio.isJdkChannel(channel)) {
        key.inner = inner.register(channel, key);
      } else {
        throw new IllegalSelectorException();
      }
      key.firstInterest(ops); // whoever sees the key in keys() may have cancelled it already
      changed(key);
      ensureOpen(); // a close that began before the key was among ours has not cancelled it
      key.stage = TalariaSelectionKey.REGISTERED;
    } catch (ClosedChannelException e) {
      keys.remove(key);
      key.stage = TalariaSelectionKey.REGISTERED;
      key.cancel();
    } catch (RuntimeException e) {
      forget(key);
      throw e;
    }
    return key;
  }

  /** Takes back the registration of a key that nobody has seen yet. */
  private void forget(TalariaSelectionKey key) {
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

  /** A key's interest has changed, or its channel has: seen by the next pass. Any thread. */
  void changed(TalariaSelectionKey key) {
    changes.add(key);
  }

  /** A channel has news that a sleeping selector must see. Any thread. */
  void nudge(TalariaSelectionKey key) {
    changed(key);
    wakeSleeper();
  }

  private void takeChanges() {
    while (changes.some()) {
      TalariaSelectionKey key = changes.poll();
      if (key != null && key.isValid()) {
        apply(key); // without the queue's lock: it takes locks of the channel
      }
    }
  }

  /** Brings the JDK's selector and the active list in line with a key. */
  private void apply(TalariaSelectionKey key) {
    int ops = key.interest();
    Lane lane = key.socket == null ? null : key.socket.lane();
    boolean fast = lane != null && lane.attached();
    if (fast) {
      lane.switchOutIfEstablished();
      settle(key, lane);
      if (lane.switchedOut()) {
        key.deaf = lane.deaf();
        ops = lane.controlOpen() && !key.deaf ? SelectionKey.OP_READ : 0;
      }
    }
    inner.interest(key, ops, fast && lane.switched());
    if (lane != null && lane.stream() != null) {
      active.add(key);
    }
  }

  /** Finds the stream of a key its home. */
  private void settle(TalariaSelectionKey key, Lane lane) {
    if (key.settled) {
      return;
    }
    key.settled = true;
    attached++;
    Home target = homes.in(lane.stream().fabric());
    boolean shared = target == null || key.socket.keys().all().length > 1;
    lane.residence().moveTo(shared ? null : target);
    if (shared) {
      forward(key);
    }
  }

  // ---- selecting

  /** Time-out in milliseconds: 0 for a look, -1 for any time. */
  private int selectWith(Consumer<SelectionKey> how, long timeoutMs) throws IOException {
    synchronized (this) {
      ensureOpen();
      if (selecting) {
        throw new IllegalStateException("select in progress");
      }
      selecting = true;
      action = how;
      found = 0;
      seen = false;
      selects++;
      synchronized (selected) {
        try {
          selectGuarded(timeoutMs);
        } finally {
          wakeUp = false;
          action = null;
          selecting = false;
        }
      }
      counters.selected();
      return found;
    }
  }

  /** Goes on with all other streams when the memory of some is gone: see {@link Faults}. */
  private void selectGuarded(long timeoutMs) throws IOException {
    acting = false;
    deadlineNs = 0;
    for (int faults = 0; ; faults++) {
      try {
        if (faults > 0) {
          lookAtAll();
        }
        selectOnce(faults == 0 || deadlineNs == 0 ? timeoutMs : leftMs());
        return;
      } catch (InternalError e) {
        if (acting || faults == MOST_FAULTS) {
          throw e; // the program's own, or no end of them
        }
        if (faults == 0) { // those that follow belong to the same memory, which is known by then
          context.examine(e);
        }
      }
    }
  }

  /** Nobody knows how far the look had come. */
  private void lookAtAll() {
    for (SelectionKey each : keys) {
      TalariaSelectionKey key = (TalariaSelectionKey) each;
      key.innerOps = TalariaSelectionKey.UNKNOWN_OPS;
      changed(key);
    }
  }

  private long leftMs() {
    return roundedUpMs(Math.max(1, deadlineNs - System.nanoTime()));
  }

  private static long roundedUpMs(long ns) {
    return (ns - 1) / NS_PER_MS + 1; // without a sum that the longest time-outs would overflow
  }

  private void selectOnce(long timeoutMs) throws IOException {
    removeCancelled();
    look(timeoutMs);
    removeCancelled();
    Faults.pollSelect(selects);
  }

  private void look(long timeoutMs) throws IOException {
    pass();
    if (seen) {
      passIf(inner.lookIfDue());
      return;
    }
    passIf(inner.lookWhenEmpty(attached > 0));
    if (seen || timeoutMs == 0 || wakeUp) {
      return;
    }
    deadlineNs = timeoutMs < 0 ? 0 : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    spin(timeoutMs < 0 ? System.nanoTime() + Long.MAX_VALUE / 2 : deadlineNs);
    while (!wakeUp && !Thread.currentThread().isInterrupted()) {
      removeCancelled(); // nobody hears what was cancelled, so nobody may ring us there
      if (seen) {
        return;
      }
      long leftMs = 0;
      if (timeoutMs > 0) {
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs <= 0) {
          return;
        }
        leftMs = roundedUpMs(leftNs);
      }
      if (!sleep(leftMs)) {
        passIf(inner.lookIfOld()); // hints without end must not hide what only it can see
      }
      pass();
      if (seen) {
        return;
      }
    }
  }

  private void passIf(boolean innerReady) {
    if (innerReady) {
      pass();
    }
  }

  /** One look at the fabrics. */
  private void pass() {
    if (!seen) { // what an action of this select changes is for the next one, as on the JDK
      takeChanges();
    }
    homes.look(hinted);
    for (int i = active.size() - 1; i >= 0; i--) {
      TalariaSelectionKey key = active.get(i);
      if (key.isValid()) {
        lookAt(key);
      } else {
        active.remove(key);
      }
    }
  }

  private void hinted(FabricStream stream) {
    RegisteredKeys registered = ((TalariaSocketChannel) stream.attachment()).keys();
    TalariaSelectionKey key = registered.with(this);
    if (key != null) {
      active.addHinted(key);
      if (!key.rare) {
        stream.unwatch(); // it is looked at directly from now on
      }
    } else { // it has moved while we looked, and we have taken the hint from its new selector
      for (TalariaSelectionKey other : registered.all()) {
        other.owner().nudge(other);
      }
    }
  }

  private void lookAt(TalariaSelectionKey key) {
    Lane lane = key.socket.lane();
    int wanted = key.interest() & (FabricStream.READ | FabricStream.WRITE);
    int ready = lane.readiness(wanted);
    if (ready != 0) {
      key.emptyLooks = 0;
      report(key, ready);
    } else if (++key.emptyLooks > active.patience(key)
        && !lane.residence().shared()
        && !key.deaf
        && watch(key, lane, wanted)) {
      active.remove(key);
    }
    if (key.deaf && !lane.deaf()) {
      changed(key); // the program has read: the control connection is listened to again
    }
  }

  /** Sets a watch; false if something is ready after all. */
  private static boolean watch(TalariaSelectionKey key, Lane lane, int ops) {
    if (!lane.attached()) {
      return true; // the JDK's selector watches
    }
    FabricStream stream = lane.stream();
    if (ops == 0) {
      stream.unwatch();
      return true;
    }
    // A direction still on TCP is watched by the JDK's selector, whatever the stream says of it.
    return (key.rare ? stream.watchEvery(ops) : stream.watch(ops)) || lane.readiness(ops) == 0;
  }

  /** FabricStream's bits are those of SelectionKey. */
  private void report(TalariaSelectionKey key, int ready) {
    seen = true;
    if (action != null) {
      if (key.countedIn != selects) {
        key.countedIn = selects;
        key.ready(ready);
        found++;
        acting = true;
        action.accept(key);
        acting = false;
        ensureOpen(); // the action may have closed us
      }
    } else if (selected.select(key)) {
      key.ready(ready);
      key.countedIn = selects;
      found++;
    } else if ((key.ready() | ready) != key.ready()) {
      key.ready(key.ready() | ready);
      if (key.countedIn != selects) { // both roads may report a key in one select
        key.countedIn = selects;
        found++;
      }
    }
  }

  // ---- the JDK's selector

  private void innerReady(SelectionKey below) {
    if (!(below.attachment() instanceof TalariaSelectionKey key)) {
      return; // the home's own event: the next pass makes the progress
    }
    if (!key.isValid()) {
      return;
    }
    int ready;
    try {
      ready = below.readyOps();
    } catch (CancelledKeyException e) {
      return; // the channel is closing; its key goes with the next pass
    }
    Lane lane = key.socket == null ? null : key.socket.lane();
    if (lane == null || !lane.attached()) {
      if (lane != null && lane.stream() != null) {
        lane.controlReadable(); // an upgrade waits for our consent
        active.add(key);
      }
      reportWanted(key, ready);
      return;
    }
    active.add(key);
    if ((ready & SelectionKey.OP_READ) != 0) {
      lane.controlReadable();
      forward(key);
      if (!lane.attached()) { // TCP goes on, and this was its
        reportWanted(key, ready);
        return;
      }
      key.deaf = lane.switchedOut() && lane.deaf();
      if (!lane.controlOpen() || key.deaf) {
        inner.interest(key, 0, true);
      }
    }
    if (!lane.switchedOut()) {
      reportWanted(key, ready & SelectionKey.OP_WRITE);
    }
  }

  private void reportWanted(TalariaSelectionKey key, int ready) {
    int wanted = ready & key.interest();
    if (wanted != 0) {
      report(key, wanted);
    }
  }

  /** A bell is for all selectors of a channel, but only one of them reads it. */
  private void forward(TalariaSelectionKey key) {
    TalariaSelectionKey[] all = key.socket.keys().all();
    if (all.length > 1) {
      for (TalariaSelectionKey other : all) {
        if (other != key) { // a cancelled one too: its selector may sleep, and be rung here
          other.owner().nudge(other);
        }
      }
    }
  }

  // ---- spinning and sleeping

  private void spin(long deadlineNs) throws IOException {
    if (attached == 0 || !spinner.start()) {
      return;
    }
    try {
      do {
        for (int i = 0; i < SPIN_PASSES && !seen && !wakeUp; i++) {
          Thread.onSpinWait();
          pass();
        }
      } while (!seen && !wakeUp && System.nanoTime() - deadlineNs < 0 && spinner.goOn());
    } finally {
      spinner.stop(seen);
    }
  }

  /** Sleeps in the JDK's selector; false if there was news, so that it has not been looked at. */
  private boolean sleep(long timeoutMs) throws IOException {
    if (!prepareToSleep()) {
      return false;
    }
    boolean slept = false;
    try {
      sleeping = true;
      if (!wakeUp && !changes.some() && homes.arm()) {
        inner.sleep(anyDeaf ? soon(timeoutMs) : timeoutMs);
        slept = true;
      }
    } finally {
      sleeping = false;
      homes.disarm();
    }
    Faults.take();
    return slept;
  }

  /** A time-out for those whom no bell wakes. */
  private static long soon(long timeoutMs) {
    return timeoutMs == 0 ? Lane.DEAF_LOOK_MS : Math.min(timeoutMs, Lane.DEAF_LOOK_MS);
  }

  /** Sets the watches of all active keys; false if one has something to report. */
  private boolean prepareToSleep() {
    anyDeaf = false;
    for (int i = active.size() - 1; i >= 0; i--) {
      TalariaSelectionKey key = active.get(i);
      Lane lane = key.socket.lane();
      int wanted = key.interest() & (FabricStream.READ | FabricStream.WRITE);
      anyDeaf |= key.deaf;
      if (!key.isValid()) {
        active.remove(key);
      } else if (lane.readiness(wanted) != 0) {
        return false;
      } else if (lane.attached() && lane.residence().shared()) {
        if (wanted != 0 && !lane.stream().await(wanted) && lane.readiness(wanted) != 0) {
          return false;
        }
      } else if (!watch(key, lane, wanted)) {
        return false;
      } else if (!key.deaf) {
        active.remove(key);
      }
    }
    return true;
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
        if (key.removable()) { // else another thread is registering it: next time
          each.remove();
          remove(key);
        }
      }
    }
    if (isOpen()) { // else closing the inner selector does it
      inner.flush(); // frees the descriptors of what was cancelled below
    }
  }

  private void remove(TalariaSelectionKey key) {
    keys.remove(key);
    selected.remove(key);
    active.remove(key);
    if (key.stage != TalariaSelectionKey.FAILED) { // Java 17 would trip over it
      deregister(key);
    }
    inner.remove(key);
    if (key.channel() instanceof Registrable ours) {
      ours.keys().remove(key);
      if (key.settled) {
        key.settled = false;
        attached--;
        unsettle(key, ours);
      }
      ours.deregistered();
    }
  }

  private void unsettle(TalariaSelectionKey key, Registrable ours) {
    TalariaSelectionKey[] others = ours.keys().all();
    Lane lane = key.socket.lane();
    Home left = homes.ifOpen(lane.stream().fabric());
    if (left != null) {
      lane.residence().leave(left);
    }
    for (TalariaSelectionKey other : others) {
      other.owner().nudge(other);
    }
  }

  /** Also those whose registration another thread is about to end. */
  private void removeAllCancelled() throws IOException {
    removeCancelled();
    while (!cancelledKeys().isEmpty()) {
      Thread.yield();
      removeCancelled();
    }
  }

  @Override
  protected void implCloseSelector() throws IOException {
    wakeUp = true;
    inner.wakeup();
    synchronized (this) {
      synchronized (selected) {
        for (SelectionKey key : keys) {
          key.cancel();
        }
        removeAllCancelled();
        selected.clear();
        homes.refuse();
        try {
          inner.close();
        } finally { // Java 17's close trips over a registration that fails at the same time
          homes.close();
          counters.close();
        }
      }
    }
  }

  @Override
  public String toString() {
    return "TalariaSelector[keys=" + keys.size() + (isOpen() ? "]" : ", closed]");
  }
}
