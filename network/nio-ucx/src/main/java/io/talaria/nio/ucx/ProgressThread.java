// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.Log;
import io.talaria.nio.transport.TalariaThread;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The thread of last resort, a daemon: progresses engines that no thread of the program progresses,
 * wakes threads that sleep in blocking calls, closes endpoints, and engines that are over, and
 * finds those whose queue is blocked. It looks every millisecond while something is to be sent that
 * UCX cannot take, every 20 ms while the program is active, and otherwise sleeps on the engines'
 * descriptors.
 */
final class ProgressThread {
  private static final int POLL_MS = 1;
  private static final int LOOK_MS = 20;
  private static final int QUIET_LOOKS = 5;

  private final List<Engine> engines = new CopyOnWriteArrayList<>();
  private final Selector selector;
  private final EventSet events;
  private final QueueCheck queueCheck;

  /** How long it sleeps at most, or will: 0 for any time. */
  private volatile int sleepMs = LOOK_MS;

  /** Whether anybody has stirred it since it has begun to look. */
  private volatile boolean stirred;

  private int quiet;

  /** Those whose failure has been logged. */
  private final Set<Engine> failed = new HashSet<>();

  ProgressThread(UcxBinding binding) throws IOException {
    selector = JdkNio.provider().openSelector();
    events = new EventSet(binding);
    queueCheck = new QueueCheck(binding);
    events.channel().register(selector, SelectionKey.OP_READ);
    TalariaThread.daemon("talaria-ucx", this::run).start();
  }

  EventSet events() {
    return events;
  }

  void add(Engine engine) {
    engines.add(engine);
    stir();
  }

  /** A process of this host has gone, perhaps while it wrote into an engine's queue. */
  void checkQueues() {
    queueCheck.request();
    selector.wakeup();
  }

  /** Something waits to be sent. */
  void hurry() {
    if (sleepMs != POLL_MS) {
      sleepMs = POLL_MS;
      selector.wakeup();
    }
  }

  /** The program is active again. */
  void stir() {
    if (!stirred) {
      stirred = true;
    }
    if (sleepMs == 0) {
      sleepMs = LOOK_MS;
      selector.wakeup();
    }
  }

  private void run() {
    while (true) {
      boolean ignored = Thread.interrupted(); // no select would wait
      try {
        turn();
      } catch (IOException | RuntimeException | Error e) {
        Log.warning("talaria-ucx: " + e, e);
        Thread.yield();
      }
    }
  }

  private void turn() throws IOException {
    Engine.Need most = Engine.Need.NOTHING;
    stirred = false;
    sleepMs = LOOK_MS;
    for (Engine engine : engines) {
      Engine.Need need = serviceGuarded(engine);
      if (need.compareTo(most) > 0) {
        most = need;
      }
    }
    Engine.Need check = queueCheck.look(engines);
    if (check.compareTo(most) > 0) {
      most = check;
    }
    quiet = most == Engine.Need.NOTHING ? quiet + 1 : 0;
    if (most == Engine.Need.SOON) {
      sleepMs = POLL_MS;
    } else if (quiet > QUIET_LOOKS && sleepMs != POLL_MS) {
      sleepMs = 0;
      if (stirred) { // by a thread that has seen that it does not sleep
        sleepMs = LOOK_MS;
      }
    }
    selector.select(sleepMs);
    selector.selectedKeys().clear();
  }

  /** An engine that fails must not keep the others from being looked after. */
  private Engine.Need serviceGuarded(Engine engine) {
    try {
      return service(engine);
    } catch (RuntimeException | Error e) {
      if (failed.add(engine)) {
        Log.warning("talaria-ucx: " + e, e);
      }
      return Engine.Need.LATER;
    }
  }

  private Engine.Need service(Engine engine) {
    engine.enter();
    try {
      Engine.Need need = engine.service();
      if (engine.over()) {
        engines.remove(engine);
        failed.remove(engine);
        engine.close();
        return Engine.Need.NOTHING;
      }
      return need;
    } finally {
      engine.exit();
    }
  }
}
