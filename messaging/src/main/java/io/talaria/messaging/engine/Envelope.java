// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.lang.foreign.MemorySegment;

/** A message or a request that waits for a handler. Used again and again. */
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

  /** What holds the memory: a slab, or nothing and then so many bytes of a large message. */
  Slab slab;

  long largeBytes;

  /** Where it waits; null: nowhere, it has a virtual thread. */
  Inbox inbox;

  /** What it takes there beyond its places. */
  int beyondBytes;

  /** Which count of its connection's {@link DeliveryTracker} it is in. */
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
