// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.transport.TransportStream.READ;
import static io.talaria.nio.transport.TransportStream.WRITE;

import io.talaria.nio.transport.EndState;
import io.talaria.nio.transport.ReadySet;

/**
 * What one stream is ready for, and who waits for that: the ready set in which a selector looks at
 * it, and threads that sleep for it alone. An engine's, except what is marked; methods enter the
 * engine unless they say that it is entered.
 */
final class UcxWaits {
  private final UcxStream stream;
  private final Engine engine;
  private final UcxOutput output;
  private final UcxInput input;
  private final EndState ends;
  private UcxReadySet readySet;

  /** Operations for which the ready set is to be hinted, once. */
  private int watched;

  /** Operations for which a thread sleeps. */
  private int awaited;

  // Any thread's.
  private volatile int ready;
  private volatile boolean homeless = true;

  UcxWaits(UcxStream stream, Engine engine, UcxOutput output, UcxInput input, EndState ends) {
    this.stream = stream;
    this.engine = engine;
    this.output = output;
    this.input = input;
    this.ends = ends;
  }

  /** Whether no selector looks at it, so that the caller has to look for itself. Any thread. */
  boolean homeless() {
    return homeless;
  }

  /** As {@link io.talaria.nio.transport.TransportStream#readiness}. Any thread. */
  int readiness(int ops) {
    int now = ready & ops;
    if (now == 0 && homeless && ops != 0) {
      engine.lookIn();
      now = ready & ops;
    }
    return now;
  }

  /** Shows other threads what is ready; the engine is entered. */
  void publish() {
    assert engine.entered();
    int now = 0;
    if (input.unread() > 0 || ends.ended() || input.allHasCome()) {
      now |= READ;
    }
    if (ends.nobodyReads() || output.hasRoom()) {
      now |= WRITE;
    }
    if (now != ready) {
      ready = now;
    }
  }

  /** Something has changed: wakes the threads that wait for it; the engine is entered. */
  void news() {
    publish();
    int now = ready;
    if ((awaited & now) != 0) {
      stream.wakeOwner(); // first: memory may be short for that, and the next news repeats it
      waits(awaited & ~now);
      watched &= ~now;
    } else if ((watched & now) != 0) {
      if (readySet == null) {
        stream.wakeOwner();
      } else {
        readySet.hint(stream);
      }
      watched &= ~now;
    }
  }

  private void waits(int ops) {
    engine.awaiting((ops == 0 ? 0 : 1) - (awaited == 0 ? 0 : 1));
    awaited = ops;
  }

  /** As {@link io.talaria.nio.transport.TransportStream#watch}. */
  boolean watch(int ops) {
    engine.enter();
    try {
      publish();
      watched = (ready & ops) == 0 ? ops : 0;
      return watched == ops;
    } finally {
      engine.exit();
    }
  }

  /** As {@link io.talaria.nio.transport.TransportStream#await}. */
  boolean await(int ops) {
    engine.enter();
    try {
      engine.turn();
      publish();
      if ((ready & ops) != 0) {
        return false;
      }
      waits(awaited | ops);
      engine.fallAsleep();
      return (awaited & ops) == ops;
    } finally {
      engine.exit();
    }
  }

  /** As {@link io.talaria.nio.transport.TransportStream#awake}. */
  void awake(int ops) {
    engine.enter();
    try {
      if (awaited != 0) {
        waits(awaited & ~ops);
      }
    } finally {
      engine.exit();
    }
  }

  // ---- the ready set

  /** As {@link io.talaria.nio.transport.TransportStream#leave}. */
  void leave(ReadySet left) {
    engine.enter();
    try {
      if (readySet == left) {
        moveTo(null);
      }
    } finally {
      engine.exit();
    }
  }

  /** As {@link io.talaria.nio.transport.TransportStream#moveTo}. */
  void moveTo(ReadySet next) {
    engine.enter();
    try {
      UcxReadySet target = (UcxReadySet) next;
      if (target != readySet) {
        UcxReadySet left = readySet;
        // Without a ready set, if it must be, the progress thread brings what comes: later, but all
        // of
        // it.
        readySet = target != null && !engine.closed() && target.add(engine) ? target : null;
        homeless = readySet == null;
        if (left != null) {
          left.remove(engine);
        }
      }
      watched = 0;
    } finally {
      engine.exit();
    }
  }

  /** The stream is released: no thread waits for it any more. */
  void release() {
    moveTo(null);
    waits(0);
  }
}
