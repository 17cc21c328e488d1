// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.CallOptions;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.netty.channel.EventLoopGroup;
import io.talaria.bench.compare.Peer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Connections to a {@link ByteServer}, each a channel of gRPC, on event loops that they share. Used
 * by one thread; the caller that opened it closes it.
 */
public final class ByteChannels implements AutoCloseable {
  /** The longest message that both sides take, with what gRPC puts around it. */
  static final int MAX_BYTES = 32 << 20;

  private static final int LIMIT_SECONDS = 10;

  private final EventLoopGroup loops;
  private final List<ManagedChannel> channels = new ArrayList<>();

  /**
   * Opens connections.
   *
   * @param server where the server is
   * @param connections how many
   * @param eventLoops how many event loops share them
   * @throws HarnessException if one cannot be opened
   */
  public ByteChannels(HostPort server, int connections, int eventLoops) throws HarnessException {
    NettyTransport transport = NettyTransport.chosen();
    loops = transport.loops(eventLoops);
    try {
      for (int i = 0; i < connections; i++) {
        ManagedChannel channel =
            NettyChannelBuilder.forAddress(
                    new InetSocketAddress(server.host(), server.port()),
                    InsecureChannelCredentials.create())
                .eventLoopGroup(loops)
                .channelType(transport.channel())
                .directExecutor() // What is called back never waits.
                .maxInboundMessageSize(MAX_BYTES)
                .build();
        channels.add(channel);
        ClientCalls.blockingUnaryCall(
            channel,
            ByteService.ECHO,
            CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS),
            new byte[0]);
      }
    } catch (StatusRuntimeException e) {
      close();
      throw Peer.cannotConnect(server, reason(e));
    }
  }

  /** Returns the channels, each with a connection of its own. */
  public List<ManagedChannel> all() {
    return List.copyOf(channels);
  }

  /**
   * Returns what gRPC's failure comes from.
   *
   * @param failure the failure
   */
  public static Throwable reason(Throwable failure) {
    if (Status.fromThrowable(failure).getCode() == Status.Code.DEADLINE_EXCEEDED) {
      return new TimeoutException("no answer in time"); // gRPC's words are about its inside
    }
    Throwable reason = failure;
    while (reason.getCause() != null) {
      reason = reason.getCause();
    }
    return reason;
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    loops.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
