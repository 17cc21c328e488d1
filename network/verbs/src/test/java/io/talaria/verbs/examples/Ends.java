// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.Access;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Two ends of a reliable connection, which two programs would have one each of. */
final class Ends implements AutoCloseable {
  static final int BYTES = 4096;
  private static final int DEPTH = 8;

  final Context context;
  final ProtectionDomain domain;
  final End near;
  final End far;

  Ends(Here here) {
    context = here.open();
    domain = context.protectionDomain();
    near = new End();
    far = new End();
    Path path = Here.path(context);
    // Two programs would tell each other these, for example by a socket.
    QueuePairAddress one = near.pair.address(path, 1);
    QueuePairAddress two = far.pair.address(path, 2);
    Access[] remote = {Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC};
    near.pair.connect(one, two, path, remote);
    far.pair.connect(two, one, path, remote);
  }

  /** One end. */
  final class End {
    final CompletionQueue queue = context.completionQueue(2 * DEPTH);
    final MemoryRegion region =
        domain.allocate(
            BYTES,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC);
    final QueuePair pair = QueuePair.rc(domain).send(queue, DEPTH).receive(queue, DEPTH).open();
    final SendRequests send = SendRequests.allocate(domain, DEPTH, 1);
    final ReceiveRequests receive = ReceiveRequests.allocate(domain, DEPTH, 1);
    final Completions done = Completions.allocate(DEPTH);

    void write(long offset, String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      MemorySegment.copy(bytes, 0, region.memory(), ValueLayout.JAVA_BYTE, offset, bytes.length);
    }

    String read(long offset, int bytes) {
      return new String(
          region.memory().asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE),
          StandardCharsets.UTF_8);
    }

    void close() {
      pair.close();
      region.close();
      queue.close();
    }
  }

  @Override
  public void close() {
    near.close();
    far.close();
    domain.close();
    context.close();
  }
}
