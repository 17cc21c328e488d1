// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A {@code ServerSocket} in front of a {@code ServerSocketChannel}. It has no state of its own but
 * the time-out of accepting. Any thread may call any method.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // The channel does its own locking.
public final class ServerSocketAdaptor extends ServerSocket {
  private static final int DEFAULT_BACKLOG = 50;

  private final ServerSocketChannel channel;
  private final TimedServerChannel timed;
  private volatile int timeoutMs;

  private ServerSocketAdaptor(ServerSocketChannel channel, TimedServerChannel timed) {
    super(new NoSocketImpl());
    this.channel = channel;
    this.timed = timed;
  }

  /**
   * Makes the socket of a channel.
   *
   * @param channel the channel
   * @param timed the same channel
   * @return a socket that neither owns nor keeps anything but the channel
   */
  public static ServerSocketAdaptor of(ServerSocketChannel channel, TimedServerChannel timed) {
    return Privileged.get(() -> new ServerSocketAdaptor(channel, timed));
  }

  @Override
  public void bind(SocketAddress local) throws IOException {
    bind(local, DEFAULT_BACKLOG);
  }

  @Override
  public void bind(SocketAddress local, int backlog) throws IOException {
    try {
      channel.bind(local == null ? new InetSocketAddress(0) : local, backlog);
    } catch (Exception e) {
      throw SocketExceptions.io(e);
    }
  }

  @Override
  public Socket accept() throws IOException {
    try {
      return acceptChannel(timeoutMs).socket();
    } catch (Exception e) {
      throw SocketExceptions.io(e);
    }
  }

  private SocketChannel acceptChannel(int limitMs) throws IOException {
    if (limitMs > 0) {
      try {
        return timed.accept(TimeUnit.MILLISECONDS.toNanos(limitMs));
      } catch (ClosedChannelException e) {
        channel.close(); // an interrupt closes what the thread waited on, and the channel with it
        throw e;
      }
    }
    // As the JDK does: a channel that is not blocking gives a connection if there is one.
    SocketChannel accepted = channel.accept();
    if (accepted == null) {
      throw new IllegalBlockingModeException();
    }
    return accepted;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  @Override
  public ServerSocketChannel getChannel() {
    return channel;
  }

  // Addresses and state

  private InetSocketAddress local() {
    return (InetSocketAddress) timed.localAddress();
  }

  @Override
  public InetAddress getInetAddress() {
    InetSocketAddress local = local();
    return local == null ? null : local.getAddress();
  }

  @Override
  public int getLocalPort() {
    InetSocketAddress local = local();
    return local == null ? -1 : local.getPort();
  }

  @Override
  public boolean isBound() {
    return timed.localAddress() != null;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public String toString() {
    return isBound()
        ? "ServerSocket[addr=" + getInetAddress() + ",localport=" + getLocalPort() + "]"
        : "ServerSocket[unbound]";
  }

  // Options

  private void ensureOpen() throws SocketException {
    if (isClosed()) {
      throw new SocketException("Socket is closed");
    }
  }

  private <T> void set(SocketOption<T> option, T value) throws SocketException {
    try {
      channel.setOption(option, value);
    } catch (IOException e) {
      throw SocketExceptions.socket(e);
    }
  }

  private <T> T get(SocketOption<T> option) throws SocketException {
    try {
      return channel.getOption(option);
    } catch (IOException e) {
      throw SocketExceptions.socket(e);
    }
  }

  @Override
  public void setSoTimeout(int timeout) throws SocketException {
    ensureOpen();
    if (timeout < 0) {
      throw new IllegalArgumentException("timeout < 0");
    }
    timeoutMs = timeout;
  }

  @Override
  public int getSoTimeout() throws SocketException {
    ensureOpen();
    return timeoutMs;
  }

  @Override
  public void setReuseAddress(boolean on) throws SocketException {
    set(StandardSocketOptions.SO_REUSEADDR, on);
  }

  @Override
  public boolean getReuseAddress() throws SocketException {
    return get(StandardSocketOptions.SO_REUSEADDR);
  }

  @Override
  public void setReceiveBufferSize(int size) throws SocketException {
    // A channel takes 0, a socket does not.
    if (size <= 0) {
      throw new IllegalArgumentException("size cannot be 0 or negative");
    }
    set(StandardSocketOptions.SO_RCVBUF, size);
  }

  @Override
  public int getReceiveBufferSize() throws SocketException {
    return get(StandardSocketOptions.SO_RCVBUF);
  }

  @Override
  public <T> ServerSocket setOption(SocketOption<T> option, T value) throws IOException {
    channel.setOption(option, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> option) throws IOException {
    return channel.getOption(option);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return channel.supportedOptions();
  }
}
