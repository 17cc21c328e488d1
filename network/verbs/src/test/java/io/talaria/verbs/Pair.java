// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Two queue pairs of one context that are connected to each other, each with its own queues. */
final class Pair implements AutoCloseable {
  static final int DEPTH = 16;
  static final int BYTES = 1 << 16;
  private static final Access[] ALL = {
    Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC
  };

  final Context context = Variant.open();
  final ProtectionDomain domain = context.protectionDomain();
  final Side left;
  final Side right;

  Pair(QueuePair.Type type) {
    this(type, false);
  }

  Pair(QueuePair.Type type, boolean extended) {
    left = new Side(type, extended);
    right = new Side(type, extended);
    Path path = Variant.path(context);
    if (type == QueuePair.Type.UD) {
      left.queuePair.activate(1, 0x11);
      right.queuePair.activate(1, 0x11);
      return;
    }
    QueuePairAddress one = left.queuePair.address(path, 100);
    QueuePairAddress two = right.queuePair.address(path, 200);
    Access[] remote =
        type == QueuePair.Type.UC
            ? new Access[] {Access.REMOTE_WRITE}
            : new Access[] {Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC};
    left.queuePair.connect(one, two, path, remote);
    right.queuePair.connect(two, one, path, remote);
  }

  /** One end. */
  final class Side {
    final CompletionQueue queue = context.completionQueue(2 * DEPTH);
    final QueuePair queuePair;
    final MemoryRegion region = domain.allocate(BYTES, ALL);
    final SendRequests send = SendRequests.allocate(domain, DEPTH, 3);
    final ReceiveRequests receive = ReceiveRequests.allocate(domain, DEPTH, 3);
    final Completions done = Completions.allocate(DEPTH);

    Side(QueuePair.Type type, boolean extended) {
      QueuePair.Builder builder =
          switch (type) {
            case RC -> QueuePair.rc(domain);
            case UC -> QueuePair.uc(domain);
            case UD -> QueuePair.ud(domain);
          };
      builder.send(queue, DEPTH).receive(queue, DEPTH).pieces(3, 3).inline(64);
      queuePair = extended ? builder.openExtended() : builder.open();
    }

    ExtendedQueuePair extended() {
      return (ExtendedQueuePair) queuePair;
    }

    void put(long offset, String text) {
      MemorySegment.copy(
          text.getBytes(StandardCharsets.UTF_8),
          0,
          region.memory(),
          ValueLayout.JAVA_BYTE,
          offset,
          text.length());
    }

    String get(long offset, int bytes) {
      return new String(
          region.memory().asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE),
          StandardCharsets.UTF_8);
    }

    void post(int request) {
      assertThat(queuePair.post(send, request, 1)).isZero();
    }

    void expect(int request, long id, long offset, int bytes) {
      receive.request(request).id(id).local(region, offset, bytes);
      assertThat(queuePair.post(receive, request, 1)).isZero();
    }

    void success(long id) {
      Variant.success(queue, done, id);
    }

    void close() {
      queuePair.close();
      region.close();
      queue.close();
    }
  }

  @Override
  public void close() {
    left.close();
    right.close();
    domain.close();
    context.close();
  }
}
