// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.talaria.bench.compare.Peer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.grpc.ByteChannels;
import io.talaria.workloads.grpc.ByteService;
import java.io.EOFException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Echoes by gRPC. */
final class GrpcEcho implements EchoLink {
  private final HostPort server;
  private final Thread owner = Thread.currentThread();
  private final ByteChannels channels;
  private final ManagedChannel channel;
  private volatile boolean gone; // published by gRPC's thread
  private volatile boolean closing;

  GrpcEcho(HostPort server) throws HarnessException {
    this.server = server;
    channels = new ByteChannels(server, 1, 1);
    channel = channels.all().getFirst();
    watch();
  }

  /** The connection has stood: once gRPC is idle again, or fails to connect anew, it has ended. */
  private void watch() {
    ConnectivityState state = channel.getState(false);
    if (state == ConnectivityState.READY || state == ConnectivityState.CONNECTING) {
      channel.notifyWhenStateChanged(state, this::watch);
    } else if (!closing) {
      gone = true;
      owner.interrupt();
    }
  }

  @Override
  public String ask(String line) throws HarnessException, InterruptedException {
    try {
      byte[] answer =
          ClientCalls.blockingUnaryCall(
              channel,
              ByteService.ECHO,
              CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS),
              line.getBytes(StandardCharsets.UTF_8));
      return new String(answer, StandardCharsets.UTF_8);
    } catch (StatusRuntimeException e) {
      HarnessException lost = lost(); // An interrupt of watch() ends the call as well.
      throw lost == null ? Peer.lost(server, "", ByteChannels.reason(e)) : lost;
    }
  }

  @Override
  public HarnessException lost() {
    return gone ? Peer.lost(server, "", new EOFException("the server has ended it")) : null;
  }

  @Override
  public void close() {
    closing = true;
    channels.close();
  }
}
