// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.Node;
import io.talaria.messaging.NodeSet;
import io.talaria.messaging.Peer;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.engine.Sender;
import io.talaria.messaging.records.Encoder;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/** Sends one message to several nodes: encodes it once, and copies it into each node's ring. */
final class MultiSend {
  /** The time between two attempts for nodes to which the message could not be sent. */
  private static final long RETRY_NS = 100_000;

  private final LocalNode node;

  MultiSend(LocalNode node) {
    this.node = node;
  }

  /** See {@link Node#send}. */
  int send(NodeSet nodes, Object message, long[] outcome) {
    Objects.requireNonNull(message, "message");
    if (outcome.length < nodes.size()) {
      throw new IllegalArgumentException(
          "room for " + outcome.length + " outcomes of " + nodes.size() + " nodes");
    }
    ThreadContext context = ThreadContext.current();
    context.mustNotBeInCodec();
    TypeEntry type = context.typeOf(node.types(), message);
    int size = Encoder.encode(context, type, message);
    MemorySegment encoded = context.scratch(size);
    long deadline = System.nanoTime() + (context.poller ? 0 : node.sendTimeoutNs());
    int good = 0;
    for (int i = 0; i < nodes.size(); i++) {
      outcome[i] = copyTo(node.remote(nodes.id(i)), context, encoded, size, type);
    }
    for (int i = 0; i < nodes.size(); i++) {
      if (mayRetry(outcome[i])) {
        Handlers own = Handlers.beginWait();
        try {
          while (mayRetry(outcome[i])
              && System.nanoTime() - deadline < 0
              && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(RETRY_NS);
            outcome[i] = copyTo(node.remote(nodes.id(i)), context, encoded, size, type);
          }
        } finally {
          Handlers.endWait(own);
        }
      }
      good += outcome[i] > 0 ? 1 : 0;
    }
    context.scratchUsed();
    return good;
  }

  private static boolean mayRetry(long result) {
    return result == Peer.CONNECTING || result == Peer.BACK_PRESSURED;
  }

  private long copyTo(
      RemotePeer peer, ThreadContext context, MemorySegment encoded, int size, TypeEntry type) {
    if (node.closing()) {
      return Peer.CLOSED;
    }
    Connection now = peer.connection();
    if (now == null) {
      node.connector().want(peer);
      return Peer.CONNECTING;
    }
    RecordHead head = context.head.of(type.index, Records.MESSAGE, 0, 0, 0);
    if (now.holds().heldBack(head.what())) {
      return now.sender().whileHeldBack();
    }
    return size > now.maxThere
        ? Peer.TOO_LARGE
        : Sender.orNoRoom(now.sender().put(context, encoded, 0, size, RingPair.DATA, head));
  }
}
