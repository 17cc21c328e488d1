// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A {@code Socket} in front of a {@code SocketChannel}. It has no state of its own but the read
 * time-out: connecting, closing and options are the channel's. Any thread may call any method.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // The channel does its own locking.
public final class SocketAdaptor extends Socket {
  private static final String OOB_INLINE = "SO_OOBINLINE";

  private final SocketChannel channel;
  private final TimedChannel timed;
  private final ReentrantLock writeLock = new ReentrantLock();
  private volatile int timeoutMs;

  private SocketAdaptor(SocketChannel channel, TimedChannel timed) throws SocketException {
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
  public static SocketAdaptor of(SocketChannel channel, TimedChannel timed) {
    try {
      return Privileged.call(() -> new SocketAdaptor(channel, timed));
    } catch (SocketException e) {
      throw new AssertionError("the base class does nothing that could fail", e);
    }
  }

  int timeoutMs() {
    return timeoutMs;
  }

  // Addresses

  @Override
  public void connect(SocketAddress remote) throws IOException {
    connect(remote, 0);
  }

  @Override
  public void connect(SocketAddress remote, int timeout) throws IOException {
    if (remote == null) {
      throw new IllegalArgumentException("connect: The address can't be null");
    }
    if (remote instanceof InetSocketAddress internet && internet.isUnresolved()) {
      refuseUnresolved(internet);
    }
    if (timeout < 0) {
      throw new IllegalArgumentException("connect: timeout can't be negative");
    }
    try {
      timed.connect(remote, TimeUnit.MILLISECONDS.toNanos(timeout));
    } catch (Exception e) {
      throw SocketExceptions.io(e);
    }
  }

  private void refuseUnresolved(InetSocketAddress remote) throws IOException {
    if (isClosed()) {
      throw new SocketException("Socket is closed");
    }
    if (isConnected()) {
      throw new SocketException("Already connected");
    }
    close();
    throw new UnknownHostException(remote.toString());
  }

  @Override
  public void bind(SocketAddress local) throws IOException {
    try {
      channel.bind(local);
    } catch (Exception e) {
      throw SocketExceptions.io(e);
    }
  }

  private InetSocketAddress local() {
    return (InetSocketAddress) timed.localAddress();
  }

  private InetSocketAddress remote() {
    return (InetSocketAddress) timed.remoteAddress();
  }

  @Override
  public InetAddress getInetAddress() {
    InetSocketAddress remote = remote();
    return remote == null ? null : remote.getAddress();
  }

  @Override
  public InetAddress getLocalAddress() {
    InetSocketAddress local = channel.isOpen() ? local() : null;
    return (local == null ? new InetSocketAddress(0) : local).getAddress();
  }

  @Override
  public int getPort() {
    InetSocketAddress remote = remote();
    return remote == null ? 0 : remote.getPort();
  }

  @Override
  public int getLocalPort() {
    InetSocketAddress local = local();
    return local == null ? -1 : local.getPort();
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    return timed.remoteAddress();
  }

  @Override
  public SocketAddress getLocalSocketAddress() {
    return timed.localAddress();
  }

  // Streams

  @Override
  public SocketChannel getChannel() {
    return channel;
  }

  @Override
  public InputStream getInputStream() throws IOException {
    ensureConnected();
    if (isInputShutdown()) {
      throw new SocketException("Socket input is shutdown");
    }
    return new AdaptorInputStream(this, timed);
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    ensureConnected();
    if (isOutputShutdown()) {
      throw new SocketException("Socket output is shutdown");
    }
    return new AdaptorOutputStream(channel, writeLock);
  }

  private void ensureOpen() throws SocketException {
    if (isClosed()) {
      throw new SocketException("Socket is closed");
    }
  }

  private void ensureConnected() throws SocketException {
    ensureOpen();
    if (!isConnected()) {
      throw new SocketException("Socket is not connected");
    }
  }

  @Override
  public void sendUrgentData(int data) throws IOException {
    timed.sendUrgentData(data);
  }

  @Override
  public void shutdownInput() throws IOException {
    try {
      channel.shutdownInput();
    } catch (Exception e) {
      throw SocketExceptions.io(e);
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    try {
      channel.shutdownOutput();
    } catch (Exception e) {
      throw SocketExceptions.io(e);
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  // Options

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
  public void setTcpNoDelay(boolean on) throws SocketException {
    set(StandardSocketOptions.TCP_NODELAY, on);
  }

  @Override
  public boolean getTcpNoDelay() throws SocketException {
    return get(StandardSocketOptions.TCP_NODELAY);
  }

  @Override
  public void setSoLinger(boolean on, int linger) throws SocketException {
    set(StandardSocketOptions.SO_LINGER, on ? linger : -1);
  }

  @Override
  public int getSoLinger() throws SocketException {
    return get(StandardSocketOptions.SO_LINGER);
  }

  /** The JDK's channels have this option, but no public name for it. */
  @SuppressWarnings("unchecked") // The option of that name is a Boolean one.
  private SocketOption<Boolean> oobInline() {
    for (SocketOption<?> option : channel.supportedOptions()) {
      if (option.name().equals(OOB_INLINE) && option.type() == Boolean.class) {
        return (SocketOption<Boolean>) option;
      }
    }
    throw new UnsupportedOperationException(OOB_INLINE + " is not an option of this channel");
  }

  @Override
  public void setOOBInline(boolean on) throws SocketException {
    set(oobInline(), on);
  }

  @Override
  public boolean getOOBInline() throws SocketException {
    return get(oobInline());
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
  public void setSendBufferSize(int size) throws SocketException {
    // A channel takes 0, a socket does not.
    if (size <= 0) {
      throw new IllegalArgumentException("Invalid send size");
    }
    set(StandardSocketOptions.SO_SNDBUF, size);
  }

  @Override
  public int getSendBufferSize() throws SocketException {
    return get(StandardSocketOptions.SO_SNDBUF);
  }

  @Override
  public void setReceiveBufferSize(int size) throws SocketException {
    // A channel takes 0, a socket does not.
    if (size <= 0) {
      throw new IllegalArgumentException("Invalid receive size");
    }
    set(StandardSocketOptions.SO_RCVBUF, size);
  }

  @Override
  public int getReceiveBufferSize() throws SocketException {
    return get(StandardSocketOptions.SO_RCVBUF);
  }

  @Override
  public void setKeepAlive(boolean on) throws SocketException {
    set(StandardSocketOptions.SO_KEEPALIVE, on);
  }

  @Override
  public boolean getKeepAlive() throws SocketException {
    return get(StandardSocketOptions.SO_KEEPALIVE);
  }

  @Override
  public void setTrafficClass(int trafficClass) throws SocketException {
    set(StandardSocketOptions.IP_TOS, trafficClass);
  }

  @Override
  public int getTrafficClass() throws SocketException {
    return get(StandardSocketOptions.IP_TOS);
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
  public <T> Socket setOption(SocketOption<T> option, T value) throws IOException {
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

  // State

  @Override
  public boolean isConnected() {
    return channel.isConnected();
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
  public boolean isInputShutdown() {
    return !timed.isInputOpen();
  }

  @Override
  public boolean isOutputShutdown() {
    return !timed.isOutputOpen();
  }

  @Override
  public String toString() {
    return isConnected()
        ? "Socket[addr="
            + getInetAddress()
            + ",port="
            + getPort()
            + ",localport="
            + getLocalPort()
            + "]"
        : "Socket[unconnected]";
  }
}
