// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A server of the key-value store, on Netty's NIO transport. It lives from its construction until
 * it is closed; its records live as long.
 */
public final class KvsServer implements AutoCloseable {
  private static final int GRACE_SECONDS = 2;

  private final EventLoopGroup loops = new NioEventLoopGroup();
  private final Server server;

  /**
   * Starts the server.
   *
   * @param address where to listen; port 0 for any free one
   * @throws IOException if it cannot listen there
   */
  public KvsServer(InetSocketAddress address) throws IOException {
    Server built =
        NettyServerBuilder.forAddress(address)
            .bossEventLoopGroup(loops)
            .workerEventLoopGroup(loops)
            .channelType(NioServerSocketChannel.class)
            // The service never waits: it may answer on the event loop.
            .directExecutor()
            .addService(new KvsService().definition())
            .build();
    try {
      server = built.start();
    } catch (IOException e) {
      loops.shutdownGracefully(0, GRACE_SECONDS, TimeUnit.SECONDS);
      throw e;
    }
  }

  /** Returns the port it listens on. */
  public int port() {
    return server.getPort();
  }

  /**
   * Waits until the server is closed.
   *
   * @throws InterruptedException if interrupted
   */
  public void awaitEnd() throws InterruptedException {
    server.awaitTermination();
  }

  @Override
  public void close() {
    server.shutdownNow();
    loops.shutdownGracefully(0, GRACE_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
