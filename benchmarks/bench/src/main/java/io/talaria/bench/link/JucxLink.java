// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * Messages by tag through JUCX, with a context and a worker of its own and memory allocated by UCX,
 * as {@link TagLink} has them, so that the two differ in the binding only.
 */
final class JucxLink extends PipelinedLink {
  private static final long TAG = 0x0b5e;
  private static final long ALL_BITS = -1;

  /** How often progress may find nothing before another thread may have the core. */
  private static final int SPINS = 1_024;

  private final boolean yields;
  private final ArrayDeque<UcpRequest> sends = new ArrayDeque<>(UcxSide.WINDOW);
  private final ArrayDeque<UcpRequest> receives = new ArrayDeque<>(UcxSide.WINDOW);
  private final UcpContext context;
  private UcpWorker worker;
  private UcpMemory out;
  private UcpMemory in;
  private UcpEndpoint endpoint;

  /**
   * Opens it; {@link #connect} makes it usable.
   *
   * @param setup what it is for
   * @param yields whether to leave the core to others when there is nothing to do
   */
  JucxLink(Binding.Setup setup, boolean yields) throws IOException {
    this.yields = yields;
    UcpParams params = new UcpParams().requestTagFeature();
    if (!setup.transports().isEmpty()) {
      params.setConfig("TLS", setup.transports());
    }
    context = new UcpContext(params);
    try {
      worker = context.newWorker(new UcpWorkerParams());
      out = allocate(setup.maxBytes());
      in = allocate(setup.maxBytes());
    } catch (UcxException e) {
      close();
      throw e;
    }
  }

  private UcpMemory allocate(int sizeBytes) {
    return context.memoryMap(new UcpMemMapParams().allocate().setLength(sizeBytes));
  }

  /** Returns the worker's address. */
  byte[] address() {
    ByteBuffer buffer = worker.getAddress();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  /**
   * Makes the endpoint.
   *
   * @param peer the address of the peer's worker
   */
  void connect(byte[] peer) {
    ByteBuffer address = ByteBuffer.allocateDirect(peer.length).put(peer).flip();
    endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(address));
  }

  @Override
  public void send() throws IOException {
    add(sends, endpoint.sendTaggedNonBlocking(out.getAddress(), sizeBytes(), TAG, null));
  }

  @Override
  public void flush() throws IOException {
    drain(sends);
  }

  @Override
  public void receive() throws IOException {
    finish(startReceive());
  }

  @Override
  public void receiveAll(long messages) throws IOException {
    for (long i = 0; i < messages; i++) {
      add(receives, startReceive());
    }
    drain(receives);
  }

  private UcpRequest startReceive() {
    return worker.recvTaggedNonBlocking(in.getAddress(), sizeBytes(), TAG, ALL_BITS, null);
  }

  @Override
  void settle() throws IOException {
    finish(endpoint.flushNonBlocking(null));
  }

  private void add(ArrayDeque<UcpRequest> window, UcpRequest request) throws IOException {
    if (request.isCompleted()) {
      finish(request);
      return;
    }
    if (window.size() == UcxSide.WINDOW) {
      finish(window.remove());
    }
    window.add(request);
  }

  private void drain(ArrayDeque<UcpRequest> window) throws IOException {
    while (!window.isEmpty()) {
      finish(window.remove());
    }
  }

  private void finish(UcpRequest request) throws IOException {
    await(request);
    if (request.getStatus() < 0) {
      throw new IOException("an operation of JUCX failed with status " + request.getStatus());
    }
  }

  /** Waits for the end of an operation, whether or not it succeeds. */
  private void await(UcpRequest request) throws IOException {
    int left = SPINS;
    while (!request.isCompleted()) {
      if (progressOnce()) {
        left = SPINS;
      } else if (--left == 0) {
        left = SPINS;
        if (yields) {
          Thread.yield();
        }
      }
    }
  }

  @Override
  boolean progressOnce() throws IOException {
    try {
      return worker.progress() > 0;
    } catch (Exception e) { // what JUCX declares
      throw new IOException("JUCX made no progress: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws IOException {
    if (endpoint != null) {
      try {
        await(endpoint.closeNonBlockingFlush());
      } catch (UcxException e) {
        // The peer has closed already; all that was sent had settled before.
      }
    }
    if (worker != null) {
      worker.close();
    }
    if (out != null) {
      out.close();
    }
    if (in != null) {
      in.close();
    }
    context.close();
  }
}
