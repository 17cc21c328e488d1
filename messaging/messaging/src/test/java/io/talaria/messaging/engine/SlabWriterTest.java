// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Mailbox;
import io.talaria.messaging.dispatch.Slab;
import io.talaria.messaging.dispatch.SlabPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** The memory of messages that were read is there for others. */
class SlabWriterTest {
  private static final int BUDGET = 1 << 20;
  private static final int SLABS = BUDGET / Slab.BYTES;
  private static final int BYTES = 1024;

  /** With so many messages, an inbox has memory of its own. */
  private static final int MANY = 64;

  private final SlabWriter slabs = new SlabWriter(new SlabPool(BUDGET));
  private final MemorySegment record = Arena.ofAuto().allocate(BYTES);
  private final Handlers handlers = new Handlers("none-", 1, 1, thrown -> {});

  private Inbox inbox() {
    Mailbox<Envelope> mailbox = new Mailbox<>(handlers, envelope -> {}, 1024, 1);
    return new Inbox(mailbox, 1024, true, BUDGET, BUDGET);
  }

  private boolean copy(Envelope envelope, Inbox inbox) {
    return slabs.copy(envelope, inbox, inbox == null ? 0 : MANY, record, 0, BYTES);
  }

  private void copyAndRead(Inbox inbox) {
    Envelope envelope = new Envelope();
    assertThat(copy(envelope, inbox)).as("there is memory").isTrue();
    envelope.slab.release();
  }

  @Test
  void inboxesThatHadManyMessagesKeepNoMemoryFromOthers() {
    for (int i = 0; i < 2 * SLABS; i++) {
      copyAndRead(inbox());
    }
    for (int i = 0; i < 2 * BUDGET / BYTES; i++) {
      copyAndRead(null);
    }
  }

  @Test
  void aSharedSlabWhoseMessagesWereReadIsFilledAgain() {
    copyAndRead(null);
    Inbox slow = inbox();
    Envelope waiting = new Envelope();
    for (int i = 0; i < (SLABS - 1) * (Slab.BYTES / BYTES); i++) {
      assertThat(copy(waiting, slow)).as("there is memory").isTrue();
    }
    for (int i = 0; i < 2 * Slab.BYTES / BYTES; i++) {
      copyAndRead(null);
    }
    assertThat(copy(waiting, slow)).as("there is memory").isTrue();
    assertThat(copy(waiting, null)).as("there is memory").isFalse();
  }

  @Test
  void memoryOfMessagesThatWaitIsNotTaken() {
    Inbox slow = inbox();
    Envelope[] waiting = new Envelope[SLABS * (Slab.BYTES / BYTES)];
    for (int i = 0; i < waiting.length; i++) {
      waiting[i] = new Envelope();
      assertThat(copy(waiting[i], slow)).as("there is memory").isTrue();
    }
    assertThat(copy(new Envelope(), slow)).as("there is memory").isFalse();
    assertThat(copy(new Envelope(), null)).as("there is memory").isFalse();
    for (int i = 0; i < Slab.BYTES / BYTES; i++) {
      waiting[i].slab.release();
    }
    copyAndRead(null);
  }
}
