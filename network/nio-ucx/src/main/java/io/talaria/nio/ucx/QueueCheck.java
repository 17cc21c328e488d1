// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.Log;
import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds engines whose receive queue is blocked. In UCX's shared memory a worker has one receive
 * queue, into which all processes of the host write. A process that ends inside such a write leaves
 * an element that nobody completes, and the worker receives nothing of what stands behind it, from
 * anyone. So when a process of this host has gone, each engine is sent a probe, from a worker that
 * is only for this. The probe that does not come in {@link #SUSPECT_NS} keeps new streams away from
 * the engine; after {@link #BLOCKED_NS} in which nothing else came from this host either, its
 * streams fail, so that no program waits for ever.
 *
 * <p>The progress thread's, except {@link #request}.
 */
final class QueueCheck {
  /** Of probes; no stream has this token. */
  static final long TAG = 0;

  /** What transports with such a queue are called, and groups of them in {@code UCX_TLS}. */
  private static final List<String> SHARED_MEMORY =
      List.of("posix", "sysv", "xpmem", "shm", "sm", "mm");

  /** What {@code UCX_TLS} says to leave all of them out. */
  private static final Set<String> NO_SHARED_MEMORY = Set.of("^shm", "^sm", "^mm");

  private static final long SUSPECT_NS = 300_000_000L;

  /**
   * A process that is stopped inside a write blocks the queue as well, for as long as it is; so
   * does one that waits for a core.
   */
  private static final long BLOCKED_NS = 5_000_000_000L;

  /** After how long UCX is tried again where it has refused a probe, or the worker for them. */
  private static final long RETRY_NS = 1_000_000_000L;

  private final UcxBinding binding;
  private final Map<Engine, Probe> probes = new HashMap<>();

  /** Engines that UCX has not let it check. */
  private final Set<Engine> refused = new HashSet<>();

  private long refusedNs;
  private boolean refusalTold;
  private volatile boolean requested;

  /** Null: none yet. */
  private BoundWorker sender;

  QueueCheck(UcxBinding binding) {
    this.binding = binding;
  }

  /** Has all engines checked in the next {@link #look}. Any thread. */
  void request() {
    requested = true;
  }

  /**
   * Begins checks that were requested, and looks what became of those before.
   *
   * @param engines all that are open
   */
  Engine.Need look(List<Engine> engines) {
    boolean begin = requested;
    if (begin) {
      requested = false; // before it begins: a later request is for one more
    }
    if (!begin && probes.isEmpty() && refused.isEmpty()) {
      return Engine.Need.NOTHING;
    }
    if (sender == null && !openSender(engines, begin)) {
      return refused.isEmpty() ? Engine.Need.NOTHING : Engine.Need.LATER;
    }
    sender.enter();
    try {
      probes.values().removeIf(probe -> !engines.contains(probe.engine) && probe.close());
      refused.retainAll(engines);
      if (begin) {
        engines.forEach(this::begin);
      } else if (!refused.isEmpty() && System.nanoTime() - refusedNs > RETRY_NS) {
        List.copyOf(refused).forEach(this::begin);
      }
      sender.progress();
      boolean underWay = false;
      for (Probe probe : probes.values()) {
        underWay |= probe.look();
      }
      if (underWay) {
        return Engine.Need.SOON;
      }
      return refused.isEmpty() ? Engine.Need.NOTHING : Engine.Need.LATER;
    } finally {
      sender.exit();
    }
  }

  /** Opens the worker that sends the probes; if UCX refuses, all engines are checked later. */
  private boolean openSender(List<Engine> engines, boolean begin) {
    refused.retainAll(engines);
    if (!begin && (refused.isEmpty() || System.nanoTime() - refusedNs <= RETRY_NS)) {
      return false;
    }
    try {
      sender = binding.openWorker();
      return true;
    } catch (BindingException e) {
      refused.addAll(engines);
      refusal(e);
      return false;
    }
  }

  /** Begins to check one engine; if UCX refuses, the others are checked, and this one later. */
  private void begin(Engine engine) {
    try {
      probes.computeIfAbsent(engine, Probe::new).request();
      refused.remove(engine);
    } catch (BindingException e) {
      refused.add(engine);
      refusal(e);
    }
  }

  private void refusal(BindingException e) {
    refusedNs = System.nanoTime();
    if (!refusalTold) {
      refusalTold = true;
      Log.warning("talaria-ucx: a queue cannot be checked for now: " + e.getMessage(), e);
    }
  }

  /** Whether that is a transport, perhaps with its device, whose receivers have such a queue. */
  private static boolean hasQueue(String transport) {
    return SHARED_MEMORY.stream().anyMatch(transport::startsWith);
  }

  /**
   * Whether one of an endpoint's transports may have such a queue. Where the binding does not know
   * them it gives what {@code UCX_TLS} says, and UCX chooses if that is nothing, all, or what to
   * leave out.
   */
  private boolean mayHaveQueue(List<String> transports) {
    boolean named = transports.stream().anyMatch(QueueCheck::hasQueue);
    if (named || binding.tellsTransports()) {
      return named;
    }
    if (transports.isEmpty() || transports.contains("all")) {
      return true;
    }
    String first = transports.get(0);
    return first.startsWith("^") && !NO_SHARED_MEMORY.contains(first);
  }

  /** The probes to one engine, one after the other. */
  private final class Probe {
    private final Engine engine;
    private final Block block = binding.newBlock(UcxMessages.NOTE_BYTES);
    private final BoundEndpoint endpoint;

    /** Whether it may go through a queue in shared memory: a network has none, and is slower. */
    private final boolean shared;

    /** Of the send, or of the close; 0: none. */
    private long request;

    private long number;
    private boolean wanted;
    private boolean underWay;
    private boolean blocked;
    private boolean closing;
    private long sinceNs;

    /** What had come to the engine when the time began. */
    private long arrivals;

    Probe(Engine engine) {
      this.engine = engine;
      endpoint = sender.connect(UcxWorkerAddress.unwrap(engine.address()), this);
      shared = mayHaveQueue(endpoint.transports());
    }

    /** Wants one more, unless there is nothing to check. */
    void request() {
      wanted = shared;
    }

    /**
     * Sends what is wanted, and looks whether it has come.
     *
     * @return whether one is under way
     */
    boolean look() {
      boolean sent = sent();
      if (wanted && !underWay && sent && !blocked && !closing) {
        send();
      }
      if (underWay) {
        awaitArrival();
      }
      return underWay;
    }

    /** Whether UCX is done with the send, or the close. */
    private boolean sent() {
      if (request > 0 && sender.poll(request) == BoundWorker.IN_PROGRESS) {
        return false;
      }
      request = 0;
      return true;
    }

    private void send() {
      wanted = false;
      block.bytes().putLong(0, ++number);
      request = endpoint.sendTag(block, UcxMessages.NOTE_BYTES, TAG);
      underWay = request >= 0; // else its worker has been closed meanwhile
      sinceNs = 0;
    }

    private void awaitArrival() {
      long come;
      engine.enter();
      try {
        engine.turn();
        underWay = engine.probe() != number;
        come = engine.arrivalsFromHost();
      } finally {
        engine.exit();
      }
      if (!underWay) {
        return;
      }
      long nowNs = System.nanoTime();
      if (sinceNs == 0 || come != arrivals) {
        sinceNs = nowNs;
        arrivals = come;
      } else if (nowNs - sinceNs > BLOCKED_NS) {
        blocked = true;
        underWay = false;
        int failed = engine.fail();
        Log.warning(
            "talaria-ucx: a process that has ended while it was writing has blocked a queue of UCX's"
                + " shared memory; the "
                + failed
                + " connections that used it are reset",
            null);
      } else if (nowNs - sinceNs > SUSPECT_NS) {
        engine.spend();
      }
    }

    /**
     * Moves the close along.
     *
     * @return whether nothing is left of it
     */
    boolean close() {
      underWay = false;
      if (sent() && !closing) {
        request = endpoint.closeForced();
        closing = true; // not before: if memory is short, it is tried again
      }
      return closing && sent();
    }
  }
}
