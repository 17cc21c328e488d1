// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.EOFException;
import java.util.concurrent.CompletableFuture;

/**
 * Sends messages one way as fast as the connection takes them, flushed a few at a time, and waits
 * for the answer of the {@link SinkHandler}. Used by the connection's event loop only.
 */
final class FloodHandler extends SimpleChannelInboundHandler<ByteBuf> {
  private final int sizeBytes;
  private final int flushEvery;
  private final ByteBuf payload;
  private ChannelHandlerContext context;
  private CompletableFuture<Long> done = new CompletableFuture<>();
  private long start;
  private long unsent;

  FloodHandler(int sizeBytes, int flushEvery, ByteBuf payload) {
    this.sizeBytes = sizeBytes;
    this.flushEvery = flushEvery;
    this.payload = payload;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  /**
   * Sends messages.
   *
   * @param messages how many
   * @param whenDone completed with the nanoseconds it took until they were all counted
   */
  void send(long messages, CompletableFuture<Long> whenDone) {
    done = whenDone;
    start = System.nanoTime();
    unsent = messages;
    ByteBuf header = context.alloc().directBuffer(Long.BYTES);
    context.write(header.writeLong(messages * sizeBytes), context.voidPromise());
    pour();
  }

  private void pour() {
    while (unsent > 0 && context.channel().isWritable()) {
      long now = Math.min(unsent, flushEvery);
      for (long i = 0; i < now; i++) {
        context.write(message(), context.voidPromise());
      }
      unsent -= now;
      context.flush();
    }
  }

  /** A small message is made anew, as a program would; a large one is not copied. */
  private ByteBuf message() {
    return payload.readableBytes() == sizeBytes
        ? payload.retainedDuplicate()
        : context.alloc().directBuffer(sizeBytes).writeZero(sizeBytes);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    pour();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, ByteBuf answer) {
    done.complete(System.nanoTime() - start);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    done.completeExceptionally(new EOFException("the server ended the connection"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    done.completeExceptionally(cause);
    ctx.close();
  }
}
