// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Task;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;

/** A server of {@link ByteService}. The caller that opened it closes it. */
public final class ByteServer implements Service {
  private final EventLoopGroup loops;
  private final Server server;

  /**
   * Starts to serve.
   *
   * @param task where
   * @param eventLoops how many event loops share the connections
   * @throws HarnessException if it cannot listen there
   */
  public ByteServer(Task task, int eventLoops) throws HarnessException {
    NettyTransport transport = NettyTransport.chosen();
    loops = transport.loops(eventLoops);
    try {
      server =
          NettyServerBuilder.forAddress(
                  Peer.bindAddress(task.where()), InsecureServerCredentials.create())
              .bossEventLoopGroup(loops)
              .workerEventLoopGroup(loops)
              .channelType(transport.server())
              .directExecutor() // The service never waits.
              .maxInboundMessageSize(ByteChannels.MAX_BYTES)
              .addService(ByteService.definition())
              .build()
              .start();
    } catch (IOException e) {
      loops.shutdownGracefully();
      throw Peer.cannotListen(task.where(), ByteChannels.reason(e));
    }
  }

  @Override
  public int port() {
    return server.getPort();
  }

  @Override
  public void close() {
    server.shutdownNow();
    loops.shutdownGracefully();
  }
}
