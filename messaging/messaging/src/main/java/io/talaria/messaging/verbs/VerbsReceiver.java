// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.ffi.Libc;
import io.talaria.messaging.ring.MirrorReceiver;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.DescriptorWatcher;
import io.talaria.messaging.transport.RingPair;
import io.talaria.verbs.Access;
import io.talaria.verbs.ActivePort;
import io.talaria.verbs.CompletionChannel;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.DeviceAttributes;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SharedReceiveQueue;
import io.talaria.verbs.Status;
import io.talaria.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Receives for all connections of a node, by one shared receive queue. The holder of the input
 * receives: the poller in each of its turns, or a thread that waits for its response. One class,
 * because all of it is done by the holder, with the same buffers.
 *
 * <pre>
 *   buffers   | posted: one for each frame that may come | spare: those of a batch |
 *
 *   poll a batch  ─►  post as many spare ones  ─►  take the frames of the batch  ─►  their buffers are spare
 * </pre>
 *
 * <p>A larger frame of messages is not copied if nothing that was copied comes before it: the
 * poller reads its records where they were received, and its buffer is spare afterwards.
 *
 * <p>So the queue is full again before anything is done with what has come, and no sender finds it
 * empty. A frame that comes before its link is there keeps its buffer; its sender is not told of
 * it, and has room for so many frames fewer.
 *
 * <p><b>Sleeping.</b> Only the poller arms, as the last step before it sleeps, while it holds the
 * input: {@link CompletionQueue#arm} looks once more after it has asked for an event. A {@link
 * DescriptorWatcher} sleeps on the completion channel in its place.
 */
final class VerbsReceiver {
  private static final int BATCH_SHIFT = 5;

  /** Buffers of a registered block, and completions taken at once. */
  private static final int BATCH = 1 << BATCH_SHIFT;

  /** A multiple of a cache line. */
  private static final int BUFFER_BYTES = VerbsLayout.MAX_FRAME_BYTES + 48;

  private static final int SPINS = 1 << 10;

  private final ProtectionDomain domain;
  private final ChannelTable table;
  private final Consumer<String> lost;
  private final SharedReceiveQueue shared;
  private final CompletionChannel events;
  private final CompletionQueue queue;
  private final DescriptorWatcher watcher;

  private final AtomicBoolean held = new AtomicBoolean();

  /** The poller, or the conductor, waits for the input. */
  private volatile boolean waits;

  private volatile boolean closed;
  private Runnable wakePoller = () -> {};

  // For the holder of the input.
  private final Completions completions = Completions.allocate(BATCH);
  private final ReceiveRequests requests;
  private MemoryRegion[] blocks = {};
  private ByteBuffer[] views = {};
  private int[] spares = {};
  private int spareCount;
  private int posted;

  /** How many are to be posted: those that the channels are promised. */
  private int target;

  /** Whether the holder is the poller, which reads the data rings. */
  private boolean lends;

  // Buffers that were lent and are not any more. Only for the poller.
  private int[] back = new int[MirrorReceiver.MAX_LENT];
  private VerbsChannel[] backFrom = new VerbsChannel[MirrorReceiver.MAX_LENT];
  private int backCount;

  private boolean came;
  private boolean wake;
  private boolean isLost;
  private VerbsLink leader;

  /**
   * Opens the queues.
   *
   * @param thread the name of the thread that sleeps on the channel
   * @param connections the maximum number of connections, about
   * @param lost is told why nothing can be received any more
   * @throws VerbsException if the device cannot do it
   */
  VerbsReceiver(
      ActivePort port,
      ProtectionDomain domain,
      ChannelTable table,
      String thread,
      int connections,
      Consumer<String> lost) {
    this.domain = domain;
    this.table = table;
    this.lost = lost;
    DeviceAttributes device = port.context().attributes();
    long wanted = (long) VerbsChannel.PROMISED * connections;
    // Half: what a shared queue has reserved stays so for a moment after its last user has gone.
    int most = Math.min(device.maxSharedRequests(), device.maxCompletions() / 2);
    int entries = (int) Math.min(wanted, Math.max(1, most));
    shared = domain.sharedReceiveQueue(entries, 1);
    CompletionChannel channel = null;
    CompletionQueue opened = null;
    try {
      channel = port.context().completionChannel();
      opened = port.context().completionQueue(2 * entries, channel, 0);
      requests = ReceiveRequests.allocate(domain, BATCH, 1);
      watcher = new DescriptorWatcher(channel.descriptor(), thread);
    } catch (RuntimeException e) {
      if (opened != null) {
        opened.close();
      }
      if (channel != null) {
        channel.close();
      }
      shared.close();
      throw e;
    }
    events = channel;
    queue = opened;
  }

  void begin(Runnable wakes) {
    wakePoller = wakes;
    watcher.start(wakes);
  }

  SharedReceiveQueue shared() {
    return shared;
  }

  CompletionQueue queue() {
    return queue;
  }

  // ---- the input

  /** Becomes the holder of the input; false if another thread is. Any thread. */
  private boolean enter() {
    return !closed && held.compareAndSet(false, true);
  }

  /** Becomes the holder, and waits for that, which takes moments; false if it is closed. */
  private boolean enterWaiting() {
    waits = true; // keeps threads that wait for responses away
    try {
      for (int i = 0; !closed; i++) {
        if (enter()) {
          return true;
        }
        if (i < SPINS) {
          Thread.onSpinWait();
        } else {
          Thread.yield();
        }
      }
      return false;
    } finally {
      waits = false;
    }
  }

  private void exit() {
    boolean pollerIsMeant = wake;
    wake = false;
    held.set(false);
    if (pollerIsMeant) {
      wakePoller.run();
    }
  }

  /** Receives what has arrived; whether anything has. Poller. */
  boolean bring() {
    if (!enter()) {
      return false; // the holder receives it
    }
    lends = true;
    try {
      takeBack();
      return work();
    } finally {
      lends = false;
      wake = false; // the poller is this thread
      exit();
    }
  }

  /** The same for a thread that waits for a response on a connection. */
  void bring(VerbsLink by) {
    if (waits || !enter()) {
      return;
    }
    leader = by;
    try {
      boolean ignored = work();
    } finally {
      leader = null;
      exit();
    }
  }

  /** Receives all that has arrived until now. Any thread that does not hold the input. */
  void drain() {
    if (enterWaiting()) {
      try {
        boolean ignored = work();
      } finally {
        exit();
      }
    }
  }

  /** Takes all completions that there are; whether there were any. */
  private boolean work() {
    came = false;
    int count = BATCH;
    while (count == BATCH && !isLost) {
      count = queue.poll(completions);
      take(count);
    }
    return came;
  }

  private void take(int count) {
    if (count < 0) {
      fail("the completion queue is lost");
      return;
    }
    if (count == 0) {
      return;
    }
    came = true;
    posted -= count;
    refill();
    for (int i = 0; i < count; i++) {
      take(
          (int) completions.id(i),
          table.ofNumber(completions.queuePairNumber(i)),
          completions.status(i),
          completions.bytes(i),
          completions.hasImmediate(i),
          completions.immediate(i));
    }
    refill(); // what no spare buffer was there for
  }

  private void take(
      int buffer, VerbsChannel channel, int status, long bytes, boolean hasWord, int word) {
    if (channel == null || channel.ended() != null) {
      spare(buffer);
      return;
    }
    if (status != Status.SUCCESS) {
      spare(buffer);
      channel.end("receiving failed: " + Status.text(status));
      return;
    }
    boolean done = true;
    try {
      if (!hasWord) {
        throw new RingBrokenException("a message came without a word");
      }
      channel.word(word, bytes == 0);
      if (bytes != 0) {
        done = channel.frame(view(buffer), at(buffer), (int) bytes, buffer, lendable(buffer));
      }
    } catch (RingBrokenException e) {
      channel.fail("protocol: " + e.getMessage());
    }
    if (done) {
      spare(buffer);
      if (bytes != 0) {
        channel.returned();
      }
    }
  }

  // ---- buffers

  private ByteBuffer view(int buffer) {
    return views[buffer >>> BATCH_SHIFT];
  }

  private static int at(int buffer) {
    return (buffer & BATCH - 1) * BUFFER_BYTES;
  }

  /** The memory of a buffer, if its records may be left there; else null. */
  private MemorySegment lendable(int buffer) {
    return lends ? blocks[buffer >>> BATCH_SHIFT].memory() : null;
  }

  /** The records of a lent buffer were read. Poller. */
  void lentBack(VerbsChannel channel, int buffer) {
    if (backCount == back.length) {
      back = Arrays.copyOf(back, 2 * backCount);
      backFrom = Arrays.copyOf(backFrom, 2 * backCount);
    }
    back[backCount] = buffer;
    backFrom[backCount++] = channel;
  }

  /** Makes the buffers spare that were lent. Poller, as the holder of the input. */
  private void takeBack() {
    for (int i = 0; i < backCount; i++) {
      spare(back[i]);
      backFrom[i].returned();
      backFrom[i] = null;
    }
    if (backCount != 0) {
      backCount = 0;
      refill();
    }
  }

  private void spare(int buffer) {
    spares[spareCount++] = buffer;
  }

  private void refill() {
    while (posted < target && spareCount > 0 && !isLost) {
      int count = Math.min(Math.min(target - posted, spareCount), BATCH);
      for (int i = 0; i < count; i++) {
        int buffer = spares[--spareCount];
        requests
            .request(i)
            .id(buffer)
            .local(blocks[buffer >>> BATCH_SHIFT], at(buffer), BUFFER_BYTES);
      }
      int status = shared.post(requests, 0, count);
      if (status != 0) {
        fail("nothing can be received: " + Libc.errorText(Math.abs(status)));
        return;
      }
      posted += count;
    }
  }

  private void fail(String why) {
    isLost = true;
    lost.accept(why);
  }

  /** Registers as many buffers as are promised, and those of a batch. */
  private void allocate() {
    int lent = target / VerbsChannel.PROMISED * MirrorReceiver.MAX_LENT;
    while (spares.length < target + lent + BATCH) {
      int block = blocks.length;
      MemoryRegion region = domain.allocate((long) BATCH * BUFFER_BYTES, Access.LOCAL_WRITE);
      blocks = Arrays.copyOf(blocks, block + 1);
      blocks[block] = region;
      views = Arrays.copyOf(views, block + 1);
      views[block] = region.memory().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      spares = Arrays.copyOf(spares, spares.length + BATCH);
      for (int i = 0; i < BATCH; i++) {
        spare((block << BATCH_SHIFT) | i);
      }
    }
  }

  // ---- channels; conductor, and the thread that sends

  /**
   * Posts the receive requests of a new channel, which may then be told to its other side.
   *
   * @throws IOException if there are too many
   * @throws VerbsException if no memory can be registered
   */
  void add(VerbsChannel channel) throws IOException {
    if (!enterWaiting()) {
      throw new IOException("the node is closed");
    }
    try {
      if (isLost || target + VerbsChannel.PROMISED > shared.capacity()) {
        throw new IOException("the shared receive queue has room for " + shared.capacity());
      }
      target += VerbsChannel.PROMISED;
      try {
        allocate();
      } catch (VerbsException e) {
        target -= VerbsChannel.PROMISED;
        throw e;
      }
      refill();
      table.put(channel);
    } finally {
      exit();
    }
  }

  /** Gives a link what was held for it. */
  void begin(VerbsChannel channel, VerbsLink link) throws IOException {
    if (!enterWaiting()) {
      throw new IOException("the node is closed");
    }
    try {
      int count = channel.begin(link);
      for (int i = 0; i < count; i++) {
        int buffer = channel.heldBuffer(i);
        try {
          if (channel.ended() == null) {
            boolean ignored =
                link.frame(view(buffer), at(buffer), channel.heldBytes(i), buffer, null);
          }
        } catch (RingBrokenException e) {
          channel.fail("protocol: " + e.getMessage());
        }
        spare(buffer);
        channel.returned();
      }
      refill();
      String ended = channel.ended();
      if (ended != null) {
        link.cutOff(ended);
      }
    } finally {
      exit();
    }
  }

  /** Closes the queue pair of a channel, after taking what it has received. */
  void remove(VerbsChannel channel) {
    if (!enterWaiting()) {
      channel.closeQueuePair();
      table.remove(channel);
      return;
    }
    try {
      try {
        channel.queuePair().fail();
      } catch (VerbsException e) {
        // It is closed all the same.
      }
      boolean ignored = work(); // else the buffers of what it has received would be lost
      for (int i = 0; i < channel.held(); i++) {
        spare(channel.heldBuffer(i));
      }
      VerbsLink link = channel.link();
      if (link != null) {
        link.returnLoans(this::spare);
      }
      table.remove(channel);
      channel.closeQueuePair();
      target -= VerbsChannel.PROMISED;
    } finally {
      exit();
    }
  }

  // ---- for links; holder of the input

  /** Records of a priority have arrived for a connection. */
  void brought(VerbsLink link, int priority) {
    if (link != leader || priority == RingPair.DATA) {
      wake = true;
    }
  }

  // ---- the poller's sleep

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#arm}. Poller. */
  boolean arm() {
    if (!enterWaiting()) {
      return true;
    }
    try {
      if (isLost) {
        return true;
      }
      takeBack();
      events.drop(); // of an earlier time
      int count = queue.arm(false, completions);
      if (count != 0) {
        take(count);
        wake = false;
        return false;
      }
      watcher.armed();
    } catch (VerbsException e) {
      fail(e.getMessage());
      return true;
    } finally {
      exit();
    }
    watcher.resume();
    return true;
  }

  /** For people. */
  @Override
  public String toString() {
    return "input: "
        + (held.get() ? "held, " : "free, ")
        + posted
        + " of "
        + target
        + " posted, "
        + spareCount
        + " spare, "
        + watcher;
  }

  // ---- the end

  /** From now on no thread becomes the holder. */
  void stop() {
    boolean entered = enterWaiting();
    closed = true;
    if (entered) {
      exit();
    }
    watcher.stop();
    watcher.join();
  }

  /** Releases everything, once it was stopped and the queue pairs are closed. */
  void close() {
    watcher.close();
    shared.close();
    queue.close();
    events.close();
    for (MemoryRegion each : blocks) {
      each.closeIdle();
    }
  }
}
