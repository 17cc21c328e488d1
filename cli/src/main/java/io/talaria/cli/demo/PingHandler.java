// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.demo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.EOFException;

/**
 * Keeps one message in flight on its connection while its {@link PingRun} wants more. Behind a
 * frame decoder; used by the connection's event loop only.
 */
final class PingHandler extends SimpleChannelInboundHandler<ByteBuf> {
  private final int sizeBytes;
  private ChannelHandlerContext context;
  private PingRun run;
  private long sentAt;

  PingHandler(int sizeBytes) {
    this.sizeBytes = sizeBytes;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  /** Begins to send for a run. */
  void begin(PingRun next) {
    run = next;
    send(System.nanoTime());
  }

  private void send(long now) {
    sentAt = now;
    ByteBuf message = context.alloc().directBuffer(sizeBytes);
    message.writeZero(sizeBytes);
    context.writeAndFlush(message, context.voidPromise());
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, ByteBuf echo) {
    long now = System.nanoTime();
    if (run.echoed(now, now - sentAt)) {
      send(now);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    failRun(new EOFException("the server ended the connection"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    failRun(cause);
    ctx.close();
  }

  private void failRun(Throwable cause) {
    if (run != null) {
      run.fail(cause);
    }
  }
}
