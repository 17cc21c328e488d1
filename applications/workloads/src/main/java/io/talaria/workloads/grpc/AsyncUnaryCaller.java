// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** Keeps a window of calls under way; each answer, on the event loop, begins the next one. */
final class AsyncUnaryCaller extends Caller {
  private final ManagedChannel channel;
  private final int window;

  AsyncUnaryCaller(ManagedChannel channel, int sizeBytes, int window) {
    super(sizeBytes);
    this.channel = channel;
    this.window = window;
  }

  @Override
  CompletableFuture<Long> run(long endNs) {
    CompletableFuture<Long> done = new CompletableFuture<>();
    AtomicInteger underWay = new AtomicInteger(window);
    for (int i = 0; i < window; i++) {
      call(endNs, underWay, done);
    }
    return done;
  }

  private void call(long endNs, AtomicInteger underWay, CompletableFuture<Long> done) {
    long sentNs = System.nanoTime();
    ClientCalls.asyncUnaryCall(
        channel.newCall(ByteService.ECHO, CallOptions.DEFAULT),
        message(),
        new StreamObserver<>() {
          private long answeredNs;

          @Override
          public void onNext(byte[] answer) {
            answeredNs = answered(sentNs, answer);
          }

          @Override
          public void onError(Throwable failure) {
            done.completeExceptionally(failure);
          }

          @Override
          public void onCompleted() {
            if (answeredNs - endNs < 0) {
              call(endNs, underWay, done);
            } else if (underWay.decrementAndGet() == 0) {
              done.complete(answeredNs);
            }
          }
        });
  }
}
