// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** A connection whose reads return only once they may. It can do nothing but read. */
final class HeldSocketChannel extends SocketChannel {
  /** Counted down when a read has got its bytes. */
  final CountDownLatch got = new CountDownLatch(1);

  /** Counted down when reads may return. */
  final CountDownLatch free = new CountDownLatch(1);

  private final SocketChannel channel;

  HeldSocketChannel(SocketChannel channel) {
    super(channel.provider());
    this.channel = channel;
  }

  @Override
  public int read(ByteBuffer dst) throws IOException {
    int n = channel.read(dst);
    got.countDown();
    try {
      free.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    return n;
  }

  private static UnsupportedOperationException not() {
    return new UnsupportedOperationException("reads only");
  }

  @Override
  public long read(ByteBuffer[] dsts, int offset, int length) {
    throw not();
  }

  @Override
  public int write(ByteBuffer src) {
    throw not();
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) {
    throw not();
  }

  @Override
  public SocketChannel bind(SocketAddress local) {
    throw not();
  }

  @Override
  public <T> SocketChannel setOption(SocketOption<T> name, T value) {
    throw not();
  }

  @Override
  public <T> T getOption(SocketOption<T> name) {
    throw not();
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    throw not();
  }

  @Override
  public SocketChannel shutdownInput() {
    throw not();
  }

  @Override
  public SocketChannel shutdownOutput() {
    throw not();
  }

  @Override
  public Socket socket() {
    throw not();
  }

  @Override
  public boolean isConnected() {
    throw not();
  }

  @Override
  public boolean isConnectionPending() {
    throw not();
  }

  @Override
  public boolean connect(SocketAddress remote) {
    throw not();
  }

  @Override
  public boolean finishConnect() {
    throw not();
  }

  @Override
  public SocketAddress getRemoteAddress() {
    throw not();
  }

  @Override
  public SocketAddress getLocalAddress() {
    throw not();
  }

  @Override
  protected void implCloseSelectableChannel() {
    throw not();
  }

  @Override
  protected void implConfigureBlocking(boolean block) {
    throw not();
  }
}
