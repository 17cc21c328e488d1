// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The mailbox's interleavings, as tests of jcstress; RingStressedTest runs them. */
public final class MailboxStress {
  private MailboxStress() {}

  /** Something is put while a handler's turn ends. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one taken, and a turn for the other")
  @Outcome(
      id = {"2, 0", "2, 1"},
      expect = ACCEPTABLE,
      desc = "both taken, and perhaps a turn for nothing")
  @Outcome(expect = FORBIDDEN, desc = "one lies there, and nobody comes")
  @State
  public static class OfferAgainstEndOfTurn {
    private final AtomicInteger taken = new AtomicInteger();
    private final Handlers handlers = new Handlers(number -> "none", 0, 1, thrown -> {}, 4);
    private final Mailbox<Object> mailbox =
        new Mailbox<>(handlers, each -> taken.incrementAndGet(), 4, 1);

    private final Task turn;

    /** One is there, and its turn is about to begin. */
    public OfferAgainstEndOfTurn() {
      mailbox.offer(this);
      turn = handlers.next();
    }

    /** Takes a turn. */
    @Actor
    public void handler() {
      turn.turn();
    }

    /** Puts the other. */
    @Actor
    public void poller() {
      mailbox.offer(this);
    }

    /** Looks what is left. */
    @Arbiter
    public void after(II_Result result) {
      result.r1 = taken.get();
      result.r2 = handlers.next() == null ? 0 : 1;
    }
  }
}
