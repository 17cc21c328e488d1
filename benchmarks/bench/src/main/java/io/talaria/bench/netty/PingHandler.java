// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.EOFException;

/**
 * Keeps messages in flight on its connection while its {@link PingRun} wants more. Behind a frame
 * decoder; used by the connection's event loop only.
 */
final class PingHandler extends SimpleChannelInboundHandler<ByteBuf> {
  private final int sizeBytes;
  private final long[] sentAt; // a ring: echoes come in the order of their messages
  private ChannelHandlerContext context;
  private PingRun run;
  private int oldest;

  PingHandler(int sizeBytes, int inFlight) {
    this.sizeBytes = sizeBytes;
    this.sentAt = new long[inFlight];
  }

  /** Returns how many messages are in flight during a run. */
  int inFlight() {
    return sentAt.length;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  /** Begins to send for a run. */
  void begin(PingRun next) {
    run = next;
    oldest = 0;
    for (int i = 0; i < sentAt.length; i++) {
      send(i);
    }
  }

  private void send(int place) {
    sentAt[place] = System.nanoTime();
    ByteBuf message = context.alloc().directBuffer(sizeBytes);
    message.writeZero(sizeBytes);
    context.writeAndFlush(message, context.voidPromise());
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, ByteBuf echo) {
    long now = System.nanoTime();
    int place = oldest;
    oldest = place + 1 == sentAt.length ? 0 : place + 1;
    if (run.echoed(now, now - sentAt[place])) {
      send(place);
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
