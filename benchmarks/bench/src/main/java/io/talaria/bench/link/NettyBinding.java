// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Connects by Netty. The event loops belong to the process: they are shared by all connections. */
final class NettyBinding implements Binding {
  private static final long LIMIT_S = 10;
  private static NioEventLoopGroup loops;
  private static int users;

  private final Setup setup;
  private final CompletableFuture<NettyLink> accepted = new CompletableFuture<>();
  private Channel listener;
  private NettyLink link;
  private boolean entered;

  NettyBinding(Setup setup) {
    this.setup = setup;
  }

  private static synchronized NioEventLoopGroup enterLoops(Setup setup) {
    if (loops == null) {
      int threads = setup.threads() == 0 ? setup.connections() : setup.threads();
      loops = new NioEventLoopGroup(Math.min(threads, setup.connections()));
    }
    users++;
    return loops;
  }

  private static synchronized void leaveLoops() {
    if (--users == 0) {
      loops.shutdownGracefully(0, LIMIT_S, TimeUnit.SECONDS);
      loops = null;
    }
  }

  private static ChannelInitializer<Channel> making(Consumer<NettyLink> to) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        NettyLink made = new NettyLink(channel);
        channel.pipeline().addLast(made.handler());
        to.accept(made);
      }
    };
  }

  private NioEventLoopGroup enter() {
    NioEventLoopGroup entering = enterLoops(setup);
    entered = true;
    return entering;
  }

  @Override
  public String offer() throws IOException {
    listener =
        new ServerBootstrap()
            .group(enter())
            .channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(making(accepted::complete))
            .bind(0)
            .syncUninterruptibly()
            .channel();
    return Integer.toString(((InetSocketAddress) listener.localAddress()).getPort());
  }

  @Override
  public String answer(String offer) throws IOException {
    new Bootstrap()
        .group(enter())
        .channel(NioSocketChannel.class)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_LIMIT_MS)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.AUTO_READ, false)
        .handler(making(made -> link = made))
        .connect(setup.host(), Integer.parseInt(offer))
        .syncUninterruptibly();
    return "";
  }

  @Override
  public void accept(String answer) throws IOException {
    try {
      link = accepted.get(LIMIT_S, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("no connection came within " + LIMIT_S + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public Link link() {
    return link;
  }

  @Override
  public void close() {
    if (listener != null) {
      listener.close().syncUninterruptibly();
    }
    if (entered) {
      entered = false;
      leaveLoops();
    }
  }
}
