// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * The engines at which one selector looks: one of its own, for streams that are made here, and
 * those of streams that came from elsewhere.
 */
final class UcxReadySet implements ReadySet {
  private static final Engine[] NONE = {};

  private final UcxTransport transport;
  private final EventSet events;

  /** Guarded by this; read by the selecting thread. */
  private volatile Engine[] engines = NONE;

  private int[] users = {};
  private Engine own;
  private boolean closed;

  /** Guarded by itself. */
  private final ArrayDeque<UcxStream> hints = new ArrayDeque<>();

  private volatile boolean hinted;
  private volatile boolean asleep;

  /** Those that were told of the sleep. The selecting thread's. */
  private Engine[] armed = NONE;

  UcxReadySet(UcxTransport transport) throws IOException {
    this(transport, new EventSet(transport.binding()));
  }

  UcxReadySet(UcxTransport transport, EventSet events) {
    this.transport = transport;
    this.events = events;
  }

  /**
   * The engine for new streams; made when the first comes, and anew when that one is spent, whose
   * streams are looked at as before. Negotiation thread.
   *
   * @return null if the selector is closed
   */
  Engine engine() throws TransportException {
    Engine before;
    synchronized (this) {
      before = own;
      if (closed || (before != null && !before.spent())) {
        return before;
      }
    }
    Engine made = transport.takeEngine();
    boolean closedMeanwhile;
    boolean watched = false;
    synchronized (this) {
      closedMeanwhile = closed; // the thread that closed it has given the other one back
      if (!closed) {
        watched = add(made);
        own = watched ? made : before;
      }
    }
    if (!watched) {
      transport.giveBack(made);
      if (closedMeanwhile) {
        return null;
      }
      throw new TransportException(Reason.LIMIT, "a selector cannot watch one more UCX worker");
    }
    if (before != null) {
      remove(before);
      transport.giveBack(before);
    }
    return made;
  }

  /**
   * Looks at an engine from now on, and is woken by it.
   *
   * @return false if the kernel does not let its descriptor be watched; then nothing has changed
   */
  synchronized boolean add(Engine engine) {
    for (int i = 0; i < users.length; i++) {
      if (engines[i] == engine) {
        users[i]++;
        return true;
      }
    }
    if (!events.add(engine)) {
      return false;
    }
    int count = users.length;
    users = Arrays.copyOf(users, count + 1);
    users[count] = 1;
    Engine[] more = Arrays.copyOf(engines, count + 1);
    more[count] = engine;
    engines = more;
    return true;
  }

  /**
   * Looks at it once less; after the last time, the engine does not count on this ready set to
   * wake.
   */
  void remove(Engine engine) {
    engine.enter();
    try {
      if (removed(engine)) {
        engine.readySetIsAwake(this);
      }
    } finally {
      engine.exit();
    }
  }

  private synchronized boolean removed(Engine engine) {
    for (int i = 0; i < users.length; i++) {
      if (engines[i] == engine && --users[i] == 0) {
        int lastIndex = users.length - 1;
        Engine[] fewer = Arrays.copyOf(engines, lastIndex);
        if (i < lastIndex) {
          fewer[i] = engines[lastIndex];
          users[i] = users[lastIndex];
        }
        users = Arrays.copyOf(users, lastIndex);
        engines = fewer;
        events.remove(engine);
        return true;
      }
    }
    return false;
  }

  /** Whether it looks at an engine, which is entered, so that this stays so. */
  private boolean looksAt(Engine engine) {
    for (Engine each : engines) {
      if (each == engine) {
        return true;
      }
    }
    return false;
  }

  /** A stream has what it was watched for. Any thread that has entered its engine. */
  void hint(UcxStream stream) {
    synchronized (hints) {
      hints.add(stream);
      hinted = true;
    }
    if (asleep) {
      stream.engine().wake(stream.owner());
    }
  }

  @Override
  public int progress(int budget) {
    int events = 0;
    for (Engine engine : engines) {
      events += engine.lookIn();
    }
    return events;
  }

  @Override
  public int drainReady(ReadySink sink, int max) {
    if (!hinted) {
      return 0;
    }
    int drained = 0;
    while (drained < max) {
      UcxStream stream;
      synchronized (hints) {
        stream = hints.poll();
        if (stream == null) {
          hinted = false;
          break;
        }
      }
      sink.ready(stream);
      drained++;
    }
    return drained;
  }

  @Override
  public boolean arm() {
    asleep = true;
    armed = engines;
    for (Engine engine : armed) {
      engine.enter();
      try {
        if (looksAt(engine)) {
          engine.readySetFallsAsleep(this);
        }
      } finally {
        engine.exit();
      }
    }
    return !hinted;
  }

  @Override
  public void disarm() {
    if (!asleep) {
      return;
    }
    asleep = false;
    for (Engine engine : armed) {
      engine.enter();
      try {
        engine.readySetIsAwake(this);
      } finally {
        engine.exit();
      }
    }
    armed = NONE;
    transport.stir();
  }

  @Override
  public SelectableChannel selectable() {
    return events.channel();
  }

  @Override
  public void close() {
    Engine left;
    synchronized (this) {
      closed = true;
      left = own;
      own = null;
    }
    if (left != null) {
      remove(left);
      transport.giveBack(left);
    }
    events.close();
  }
}
