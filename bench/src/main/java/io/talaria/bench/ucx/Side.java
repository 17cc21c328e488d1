// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.Config;
import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.ErrorHandling;
import io.talaria.ucx.Feature;
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
public final class Side implements AutoCloseable {
  /** How many operations are in flight at most, as in {@code ucx_perftest}. */
  public static final int WINDOW = 32;

  /** How often progress may find nothing before one looks around. */
  private static final int SPINS = 1_024;

  /** How often one looks at a request before following other orders. */
  private static final int LOOKS = 4;

  private static final byte[] NO_KEY = {};

  private final Context context;
  private final Runnable check;
  private final boolean yields;
  private Worker worker;
  private MemoryRegion outRegion;
  private MemoryRegion inRegion;
  private MemorySegment out;
  private MemorySegment in;
  private Endpoint endpoint;
  private RemoteMemory remote;
  private int looks = SPINS;

  private Side(Context context, Runnable check, boolean yields) {
    this.context = context;
    this.check = check;
    this.yields = yields;
  }

  /**
   * What a side is opened for.
   *
   * @param feature what is needed of UCX
   * @param sizeBytes the largest message
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   * @param yields whether to leave the core to others when there is nothing to do
   */
  public record Needs(Feature feature, int sizeBytes, String transports, boolean yields) {}

  /**
   * Opens a side.
   *
   * @param needs what for
   * @param check what throws when there is nothing to wait for any more
   */
  public static Side open(Needs needs, Runnable check) {
    Side side = new Side(context(needs), check, needs.yields());
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
      return Context.open(Context.Options.of(needs.feature()), config);
    }
  }

  /**
   * Returns how the other side reaches this one.
   *
   * @param memory whether it reaches into the memory, too
   */
  public Credentials credentials(boolean memory) {
    return Credentials.of(worker.address().toBytes(), memory ? inRegion.pack().toBytes() : NO_KEY);
  }

  /**
   * Makes the endpoint.
   *
   * @param peer how to reach the other side
   */
  public void connect(Credentials peer) {
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
  public Worker worker() {
    return worker;
  }

  /** Returns the endpoint, once connected. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** Returns the peer's memory. */
  public RemoteMemory remote() {
    return remote;
  }

  /** Returns what is sent. */
  public MemorySegment out() {
    return out;
  }

  /** Returns what is received into; the peer reaches it too. */
  public MemorySegment in() {
    return in;
  }

  /** Progresses until UCX has done something, or for a while. */
  public void spin() {
    int left = SPINS;
    while (worker.progress() == 0) {
      if (--left == 0) {
        lookAround();
        return;
      }
    }
  }

  private void lookAround() {
    check.run();
    if (yields) {
      Thread.yield();
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new PeerLostException("interrupted: the other side does not answer");
    }
  }

  /**
   * Progresses until an operation is over.
   *
   * @param request what the operation has answered
   */
  public void finish(long request) {
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
  public boolean isOver(long request) {
    Status.check(request, "an operation");
    int status = worker.poll(request);
    Status.check(status, "an operation");
    return status != Status.IN_PROGRESS;
  }

  /** Progresses for a while; returns whether an operation is over. */
  boolean finishSoon(long request) {
    for (int i = 0; i < LOOKS; i++) {
      if (isOver(request)) {
        return true;
      }
      spin();
    }
    return false;
  }

  /** Progresses once, for whoever looks at memory in between. */
  public void look() {
    if (worker.progress() == 0 && --looks == 0) {
      looks = SPINS;
      lookAround();
    }
  }

  /** Progresses until all that was sent has arrived. */
  public void flush() {
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
