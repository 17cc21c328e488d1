// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench.ucx;

import io.talaria.cli.bench.ucx.Messages.Credentials;
import io.talaria.cli.bench.ucx.Messages.Setup;
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
final class Side implements AutoCloseable {
  /** How many operations are in flight at most, as in {@code ucx_perftest}. */
  static final int WINDOW = 32;

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
   * Opens a side.
   *
   * @param setup what for
   * @param check what throws when there is nothing to wait for any more
   */
  static Side open(Setup setup, Runnable check) {
    Side side = new Side(context(setup), check, setup.yields());
    try {
      side.worker = Worker.open(side.context, Worker.Options.defaults());
      side.outRegion = MemoryRegion.allocate(side.context, setup.sizeBytes());
      side.inRegion = MemoryRegion.allocate(side.context, setup.sizeBytes());
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

  private static Context context(Setup setup) {
    try (Config config = Config.read()) {
      if (!setup.transports().isEmpty()) {
        config.set("TLS", setup.transports());
      }
      return Context.open(Context.Options.of(setup.operation().feature(setup.sizeBytes())), config);
    }
  }

  /** Returns how the other side reaches this one. */
  Credentials credentials(Operation operation) {
    return Credentials.of(
        worker.address().toBytes(), operation.isRemote() ? inRegion.pack().toBytes() : NO_KEY);
  }

  /** Makes the endpoint. */
  void connect(Credentials peer) {
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

  Worker worker() {
    return worker;
  }

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
    check.run();
    if (yields) {
      Thread.yield();
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new PeerLostException("interrupted: the other side does not answer");
    }
  }

  /** Progresses until an operation is over. */
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

  /** Returns whether an operation is over, without progress. */
  boolean isOver(long request) {
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
