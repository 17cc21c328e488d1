// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.ucx.Config;
import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.ErrorHandling;
import io.talaria.ucx.MemoryRegion;
import io.talaria.ucx.RemoteKey;
import io.talaria.ucx.RemoteMemory;
import io.talaria.ucx.Status;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
import java.lang.foreign.MemorySegment;
import java.util.Base64;

/**
 * What one side of a connection has of UCX: context, worker, endpoint, and memory allocated by UCX
 * as {@code ucx_perftest} does. Confined to the thread that opens it, which closes it.
 */
final class UcxSide implements AutoCloseable {
  /** How many operations are in flight at most, as in {@code ucx_perftest}. */
  static final int WINDOW = 32;

  /** How often progress may find nothing before one looks around. */
  private static final int SPINS = 1_024;

  private static final byte[] NO_KEY = {};

  private final Context context;
  private final boolean yields;
  private Worker worker;
  private MemoryRegion outRegion;
  private MemoryRegion inRegion;
  private MemorySegment out;
  private MemorySegment in;
  private Endpoint endpoint;
  private RemoteMemory remote;
  private int looks = SPINS;

  private UcxSide(Context context, boolean yields) {
    this.context = context;
    this.yields = yields;
  }

  /**
   * How to reach one side, as a line of JSON has it.
   *
   * @param address of its worker, in Base64
   * @param key of its memory, in Base64; empty if the peer does not access it
   */
  record Reach(String address, String key) {}

  /**
   * What a side is opened for.
   *
   * @param features what is needed of UCX
   * @param sizeBytes the largest message
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   * @param yields whether to leave the core to others when there is nothing to do
   */
  record Needs(Context.Options features, int sizeBytes, String transports, boolean yields) {}

  /**
   * Opens a side.
   *
   * @param needs what for
   */
  static UcxSide open(Needs needs) {
    UcxSide side = new UcxSide(context(needs), needs.yields());
    try {
      side.worker = Worker.open(side.context, Worker.Options.defaults());
      side.outRegion = MemoryRegion.allocate(side.context, needs.sizeBytes());
      side.inRegion = MemoryRegion.allocate(side.context, needs.sizeBytes());
      side.out = side.outRegion.memory();
      side.in = side.inRegion.memory();
      side.out.fill((byte) 0);
      side.in.fill((byte) 0);
      return side;
    } catch (RuntimeException e) {
      side.close();
      throw e;
    }
  }

  private static Context context(Needs needs) {
    try (Config config = Config.read()) {
      if (!needs.transports().isEmpty()) {
        config.set("TLS", needs.transports());
      }
      return Context.open(needs.features(), config);
    }
  }

  /**
   * Returns how the other side reaches this one.
   *
   * @param memory whether it reaches into the memory, too
   */
  Reach reach(boolean memory) {
    Base64.Encoder encoder = Base64.getEncoder();
    return new Reach(
        encoder.encodeToString(worker.address().toBytes()),
        encoder.encodeToString(memory ? inRegion.pack().toBytes() : NO_KEY));
  }

  /**
   * Makes the endpoint.
   *
   * @param peer how to reach the other side
   */
  void connect(Reach peer) {
    endpoint =
        worker.connect(
            Endpoint.Options.to(WorkerAddress.of(decode(peer.address())))
                .errorHandling(ErrorHandling.NONE));
    if (!peer.key().isEmpty()) {
      remote = endpoint.unpack(RemoteKey.of(decode(peer.key())));
    }
  }

  private static byte[] decode(String base64) {
    return Base64.getDecoder().decode(base64);
  }

  /** Returns the worker. */
  Worker worker() {
    return worker;
  }

  /** Returns the endpoint, once connected. */
  Endpoint endpoint() {
    return endpoint;
  }

  /** Returns the peer's memory. */
  RemoteMemory remote() {
    return remote;
  }

  /** Returns what is sent. */
  MemorySegment out() {
    return out;
  }

  /** Returns what is received into; the peer reaches it too. */
  MemorySegment in() {
    return in;
  }

  /** Progresses until UCX has done something, or for a while. */
  void spin() {
    int left = SPINS;
    while (worker.progress() == 0) {
      if (--left == 0) {
        lookAround();
        return;
      }
    }
  }

  private void lookAround() {
    if (yields) {
      Thread.yield();
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new IllegalStateException("interrupted: the other side does not answer");
    }
  }

  /**
   * Progresses until an operation is over.
   *
   * @param request what the operation has answered
   */
  void finish(long request) {
    if (request <= 0) {
      Status.check(request, "an operation");
      return;
    }
    int status;
    while ((status = worker.poll(request)) == Status.IN_PROGRESS) {
      spin();
    }
    Status.check(status, "an operation");
  }

  /**
   * Returns whether an operation is over, without progress.
   *
   * @param request what the operation has answered
   */
  boolean isOver(long request) {
    Status.check(request, "an operation");
    int status = worker.poll(request);
    Status.check(status, "an operation");
    return status != Status.IN_PROGRESS;
  }

  /** Progresses once, for a caller that looks at memory in between. */
  void look() {
    if (worker.progress() == 0 && --looks == 0) {
      looks = SPINS;
      lookAround();
    }
  }

  /** Progresses until all that was sent has arrived. */
  void flush() {
    finish(endpoint.flush());
  }

  /** Closes all; does nothing if it is closed. */
  @Override
  public void close() {
    if (endpoint != null) {
      endpoint.close();
    }
    if (worker != null) {
      worker.close();
    }
    if (outRegion != null) {
      outRegion.close();
    }
    if (inRegion != null) {
      inRegion.close();
    }
    context.close();
  }
}
