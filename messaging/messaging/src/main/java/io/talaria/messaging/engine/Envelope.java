// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.Slab;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.MemorySegment;

/** Holds a message or a request that waits for a handler. Reused for later messages. */
final class Envelope {
  Connection connection;
  TypeEntry type;
  byte kind;
  int slot;
  int generation;
  long deadlineNs;
  MemorySegment memory;
  long offset;
  int bytes;

  /** The slab that contains the memory; null for a large message. */
  Slab slab;

  /** Bytes to return to {@link LargeMemory} once a large message was read; 0 for others. */
  long largeBytes;

  /** The inbox in which this waits; null if a virtual thread runs it. */
  Inbox inbox;

  /** Bytes for which it counts beyond the inbox's capacity; 0 if it is within. */
  int beyondBytes;

  /** The epoch of its connection's {@link Connection#deliveries} in which it is counted. */
  int epoch;

  void clear() {
    connection = null;
    type = null;
    memory = null;
    slab = null;
    inbox = null;
    largeBytes = 0;
  }
}
