// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.TestVerbs;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Has the node in the caller's process, on the provider of verbs in memory, and a thread that stops
 * the provider for moments: what either node sends completes at neither side meanwhile. Completions
 * come out as they went in, or those of the later queue pair first.
 */
final class FarNeighbour extends FarNode {
  private final LocalNode node;
  private final ExecutorService stopper =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());

  private FarNeighbour(LocalNode node) {
    super(Math.max(0, node.port()));
    this.node = node;
  }

  static FarNeighbour start(int dataRingBytes, Path directory) throws Exception {
    return new FarNeighbour(WakeUps.start(2, Transport.VERBS, dataRingBytes, directory, -1));
  }

  @Override
  void stopForAMoment(Random random) {
    stopForAMoment(random, false);
  }

  @Override
  void stopCallerForAMoment(Random random) {
    stopForAMoment(random, true);
  }

  private void stopForAMoment(Random random, boolean reverse) {
    long forMs = random.nextInt(10);
    stopper.execute(
        () -> {
          TestVerbs.hold();
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(forMs));
          TestVerbs.release(reverse);
        });
  }

  @Override
  void tell() {
    // What the other node tells has the threads of this one, too.
  }

  @Override
  String said() {
    return WakeUps.state(node);
  }

  @Override
  void end() {
    stopper.close();
    node.close(LIMIT);
  }

  @Override
  void close() {
    stopper.close();
    node.close(Duration.ZERO);
  }
}
