// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.talaria.bench.harness.ChildJvm;

/** The transport of Netty that gRPC uses in this JVM. */
enum NettyTransport {
  /** Channels of NIO, which Talaria accelerates. */
  NIO(NioSocketChannel.class, NioServerSocketChannel.class),
  /** Netty's native transport, which calls the kernel directly. */
  EPOLL(EpollSocketChannel.class, EpollServerSocketChannel.class);

  private final Class<? extends Channel> channel;
  private final Class<? extends ServerChannel> server;

  NettyTransport(Class<? extends Channel> channel, Class<? extends ServerChannel> server) {
    this.channel = channel;
    this.server = server;
  }

  /** Returns the transport that this JVM was started for. */
  static NettyTransport chosen() {
    return ChildJvm.nettyEpoll() ? EPOLL : NIO;
  }

  /** Returns the class of connections. */
  Class<? extends Channel> channel() {
    return channel;
  }

  /** Returns the class of listeners. */
  Class<? extends ServerChannel> server() {
    return server;
  }

  /**
   * Starts event loops.
   *
   * @param number how many
   * @throws UnsatisfiedLinkError if Netty's native library cannot be loaded
   */
  EventLoopGroup loops(int number) {
    return this == EPOLL ? new EpollEventLoopGroup(number) : new NioEventLoopGroup(number);
  }
}
