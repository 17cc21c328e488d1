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
  private final Object[] named = new Object[BoundWorker.MAX_READY];

  Two() {
    here.enter();
    there.enter();
    out = here.connect(there.address(), "out");
    in = there.connect(here.address(), "in");
  }

  private static UcxBinding start() {
    UcxBinding binding = new JucxBinding();
    String unavailableReason = binding.start(Map.of("UCX_TLS", "posix,self"));
    if (!unavailableReason.isEmpty()) {
      throw new AssertionError(unavailableReason);
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

  /** As {@link #send}, by a thread that is inside on this side only. */
  void sendAlone(int bytes) {
    long request = out.sendStream(sent, bytes);
    if (request < 0) {
      throw new AssertionError("status " + request);
    }
    while (request > 0 && here.poll(request) == BoundWorker.IN_PROGRESS) {
      here.progress();
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

  /** A connection from its beginning to its end: eight bytes each way, and both sides close. */
  void connection() {
    BoundEndpoint one = here.connect(there.address(), this);
    BoundEndpoint other = there.connect(here.address(), this);
    long sent = one.sendStream(this.sent, Long.BYTES);
    long back = other.sendStream(this.sent, Long.BYTES);
    int[] got = {0, 0};
    until(
        () -> {
          got[0] += receive(there, other);
          got[1] += receive(here, one);
          return got[0] == Long.BYTES
              && got[1] == Long.BYTES
              && (sent <= 0 || here.status(sent) != BoundWorker.IN_PROGRESS)
              && (back <= 0 || there.status(back) != BoundWorker.IN_PROGRESS);
        });
    end(here, sent);
    end(there, back);
    end(here, one.closeForced());
    end(there, other.closeForced());
  }

  private int receive(BoundWorker worker, BoundEndpoint endpoint) {
    int count = worker.pollStreams(named);
    int got = 0;
    for (int i = 0; i < count; i++) {
      int length = (int) endpoint.receiveStream(place);
      if (length < 0) {
        throw new AssertionError("status " + length);
      }
      got += length;
      place.release();
    }
    return got;
  }

  private void end(BoundWorker worker, long request) {
    until(() -> request <= 0 || worker.poll(request) != BoundWorker.IN_PROGRESS);
  }

  @Override
  public void close() {
    there.exit();
    here.exit();
    here.close();
    there.close();
  }
}
