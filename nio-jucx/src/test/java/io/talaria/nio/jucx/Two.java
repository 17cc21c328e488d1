// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.Received;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Two workers of this process, with an endpoint each. Entered by the thread that made them. */
final class Two implements AutoCloseable {
  private static final long LIMIT_NS = 60_000_000_000L;

  static final UcxBinding BINDING = start();

  final BoundWorker here = BINDING.openWorker();
  final BoundWorker there = BINDING.openWorker();
  final BoundEndpoint out;
  final BoundEndpoint in;
  final Block sent = BINDING.newBlock(1 << 20);
  private final Received place = there.newReceived();
  private final Object[] named = new Object[BoundWorker.MOST_READY];

  Two() {
    here.enter();
    there.enter();
    out = here.connect(there.address(), "out");
    in = there.connect(here.address(), "in");
  }

  private static UcxBinding start() {
    UcxBinding binding = new JucxBinding();
    String obstacle = binding.start(Map.of("UCX_TLS", "posix,self"));
    if (!obstacle.isEmpty()) {
      throw new AssertionError(obstacle);
    }
    return binding;
  }

  void progress() {
    here.progress();
    there.progress();
  }

  void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      progress();
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new AssertionError("nothing has happened for " + LIMIT_NS + " ns");
      }
    }
  }

  /** Sends bytes, and lets them leave. */
  void send(int bytes) {
    long request = out.sendStream(sent, bytes);
    if (request < 0) {
      throw new AssertionError("status " + request);
    }
    while (request > 0 && here.poll(request) == BoundWorker.IN_PROGRESS) {
      progress();
    }
  }

  /** Takes what has come; how many bytes. */
  int take(byte[] to) {
    there.progress();
    int count = there.pollStreams(named);
    int taken = 0;
    for (int i = 0; i < count; i++) {
      int length;
      while ((length = (int) in.receiveStream(place)) > 0) {
        place.copyTo(0, to, taken, length);
        taken += length;
        place.release();
      }
      if (length < 0) {
        throw new AssertionError("status " + length);
      }
    }
    return taken;
  }

  @Override
  public void close() {
    there.exit();
    here.exit();
    here.close();
    there.close();
  }
}
