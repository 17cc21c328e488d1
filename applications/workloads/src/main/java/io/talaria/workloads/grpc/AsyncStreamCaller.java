// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.CompletableFuture;

/** Keeps a window of messages under way on a stream; each answer sends the next one. */
final class AsyncStreamCaller extends Caller {
  private final ManagedChannel channel;
  private final int window;

  AsyncStreamCaller(ManagedChannel channel, int sizeBytes, int window) {
    super(sizeBytes);
    this.channel = channel;
    this.window = window;
  }

  @Override
  CompletableFuture<Long> run(long endNs) {
    Stream stream = new Stream(endNs);
    ClientCalls.asyncBidiStreamingCall(
        channel.newCall(ByteService.ECHO_STREAM, CallOptions.DEFAULT), stream);
    return stream.done;
  }

  /** Used by the event loop of its connection, which alone calls it back. */
  private final class Stream implements ClientResponseObserver<byte[], byte[]> {
    private final long endNs;
    private final CompletableFuture<Long> done = new CompletableFuture<>();
    private final long[] sentNs = new long[window]; // a ring: answers come in order
    private ClientCallStreamObserver<byte[]> messages;
    private int begun;
    private int oldest;
    private int underWay;
    private long lastNs;

    Stream(long endNs) {
      this.endNs = endNs;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<byte[]> call) {
      messages = call;
      call.setOnReadyHandler(this::begin);
    }

    /** Sends the first ones, when gRPC is ready for them. */
    private void begin() {
      while (begun < window) {
        underWay++;
        send(begun++);
      }
    }

    private void send(int place) {
      sentNs[place] = System.nanoTime();
      messages.onNext(message());
    }

    @Override
    public void onNext(byte[] answer) {
      int place = oldest;
      oldest = place + 1 == window ? 0 : place + 1;
      lastNs = answered(sentNs[place], answer);
      if (lastNs - endNs < 0) {
        send(place);
      } else if (--underWay == 0) {
        messages.onCompleted();
      }
    }

    @Override
    public void onError(Throwable failure) {
      done.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {
      done.complete(lastNs);
    }
  }
}
