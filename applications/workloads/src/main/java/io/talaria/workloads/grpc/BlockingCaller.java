// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import io.grpc.stub.ClientCalls;
import java.util.concurrent.CompletableFuture;

/** A thread of its own that makes one call, or sends one message on its stream, after the other. */
final class BlockingCaller extends Caller {
  private final ManagedChannel channel;
  private final boolean streaming;

  BlockingCaller(ManagedChannel channel, int sizeBytes, boolean streaming) {
    super(sizeBytes);
    this.channel = channel;
    this.streaming = streaming;
  }

  @Override
  CompletableFuture<Long> run(long endNs) {
    CompletableFuture<Long> done = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("talaria-grpc-caller")
        .start(
            () -> {
              try {
                done.complete(streaming ? stream(endNs) : call(endNs));
              } catch (StatusException | InterruptedException | RuntimeException e) {
                done.completeExceptionally(e);
              }
            });
    return done;
  }

  private long call(long endNs) {
    long now = System.nanoTime();
    do {
      now =
          answered(
              now,
              ClientCalls.blockingUnaryCall(
                  channel, ByteService.ECHO, CallOptions.DEFAULT, message()));
    } while (now - endNs < 0);
    return now;
  }

  private long stream(long endNs) throws StatusException, InterruptedException {
    BlockingClientCall<byte[], byte[]> call =
        ClientCalls.blockingBidiStreamingCall(
            channel, ByteService.ECHO_STREAM, CallOptions.DEFAULT);
    long now = System.nanoTime();
    do {
      call.write(message());
      now = answered(now, call.read());
    } while (now - endNs < 0);
    call.halfClose();
    return now;
  }
}
