// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.adaptor.ServerSocketAdaptor;
import io.talaria.nio.adaptor.SocketChannels;
import io.talaria.nio.adaptor.TimedServerChannel;
import io.talaria.nio.context.Context;
import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.control.ShownAddress;
import io.talaria.nio.control.SocketInterrupt;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.negotiation.Announcement;
import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A listener: the JDK's own, plus an announcement for clients of this host. Connections come from
 * the JDK's real backlog.
 */
final class TalariaServerSocketChannel extends ServerSocketChannel implements Registrable {
  private final Context context;
  private final ServerSocketChannel control;
  private final Object lock = new Object();
  private final RegisteredKeys keys = new RegisteredKeys();
  private final ReentrantLock acceptLock = new ReentrantLock();

  /** For the thread that accepts behind a server socket. */
  private final ControlWaiter accepting;

  /** SO_RCVBUF as the program has set it, which accepted connections inherit; or 0. */
  private volatile int receiveBuffer;

  private volatile SocketAddress local;
  private Announcement announcement;
  private ConnectionCounters counters;
  private ServerSocket adaptor;

  TalariaServerSocketChannel(Context context, ServerSocketChannel control) {
    super(context.provider());
    this.context = context;
    this.control = control;
    accepting = new ControlWaiter(control, (who, event) -> !isOpen(), context::repeat);
  }

  @Override
  public ServerSocketChannel control() {
    return control;
  }

  @Override
  public RegisteredKeys keys() {
    return keys;
  }

  @Override
  public void deregistered() {
    // The JDK's channel frees its descriptor itself.
  }

  @Override
  public ServerSocketChannel bind(SocketAddress wanted, int backlog) throws IOException {
    synchronized (lock) {
      if (!isOpen()) { // control may still be open, but nobody would take the announcement back
        throw new ClosedChannelException();
      }
      control.bind(wanted, backlog);
      bound();
    }
    return this;
  }

  /**
   * Wraps a listener that this process has been started with.
   *
   * @param control bound, of the JDK's
   */
  static TalariaServerSocketChannel inherited(Context context, ServerSocketChannel control)
      throws IOException {
    TalariaServerSocketChannel channel = new TalariaServerSocketChannel(context, control);
    synchronized (channel.lock) {
      channel.bound();
    }
    return channel;
  }

  /** Announces it. */
  private void bound() throws IOException {
    assert Thread.holdsLock(lock);
    SocketAddress bound = Privileged.call(control::getLocalAddress);
    local = bound;
    if (counters == null && bound instanceof InetSocketAddress address) {
      counters = context.counters().connection(Role.LISTENER, bound, null);
      if (context.wants(address.getPort())) {
        announcement = context.negotiator().announce(address, this::announced);
      } else {
        context.negotiator().execute(() -> announced(Reason.PORT_LEFT_OUT));
      }
    }
  }

  private void announced(Reason reason) {
    counters.transport(
        reason == Reason.ANNOUNCED ? context.negotiator().preferred() : NioTransport.TCP,
        reason,
        "");
    context.listenerIs(reason, local);
  }

  @Override
  public SocketChannel accept() throws IOException {
    SocketChannel accepted;
    try {
      accepted = control.accept();
    } catch (IOException e) {
      if (!control.isOpen()) {
        close(); // an interrupt closes the channel in use
      }
      throw e;
    }
    return accepted == null
        ? null
        : TalariaSocketChannel.accepted(context, accepted, receiveBuffer);
  }

  /** A listener to stand behind a {@code ServerSocket}. */
  static SocketChannels.Listener forSocket(Context context, ServerSocketChannel control)
      throws IOException {
    control.configureBlocking(false);
    return new TalariaServerSocketChannel(context, control).new ForSocket();
  }

  /** Accepts as {@link SocketChannels} wants it, on a listener of the JDK's that does not block. */
  private final class ForSocket implements SocketChannels.Listener {
    @Override
    public ServerSocketChannel channel() {
      return TalariaServerSocketChannel.this;
    }

    @Override
    public SocketChannels.Client accept(long timeoutNs) throws IOException {
      long deadlineNs = System.nanoTime() + timeoutNs;
      boolean interrupted = false;
      acceptLock.lock();
      try {
        while (true) {
          SocketChannel accepted = control.accept();
          if (accepted != null) {
            return TalariaSocketChannel.acceptedForSocket(context, accepted, receiveBuffer);
          }
          long leftNs = timeoutNs == 0 ? 0 : deadlineNs - System.nanoTime();
          if (leftNs < 0 || (leftNs == 0 && timeoutNs > 0)) {
            throw new SocketTimeoutException("Accept timed out");
          }
          interrupted |= SocketInterrupt.putOff();
          accepting.sleep(ControlWaiter.READER, JdkNio.READABLE, leftNs);
          if (!isOpen()) {
            throw new AsynchronousCloseException();
          }
        }
      } finally {
        acceptLock.unlock();
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Override
  public ServerSocket socket() {
    synchronized (lock) {
      if (adaptor == null) {
        adaptor = ServerSocketAdaptor.of(this, new Timed());
      }
      return adaptor;
    }
  }

  private final class Timed implements TimedServerChannel {
    @Override
    public SocketChannel accept(long timeoutNs) throws IOException {
      if (!isBlocking()) {
        throw new IllegalBlockingModeException();
      }
      ServerSocket timed = control.socket();
      try {
        timed.setSoTimeout(
            (int)
                Math.max(1, Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(timeoutNs))));
      } catch (SocketException e) {
        if (!control.isOpen()) { // what the JDK's accept says of a channel that is or gets closed
          throw new AsynchronousCloseException();
        }
        throw e;
      }
      return TalariaSocketChannel.accepted(context, timed.accept().getChannel(), receiveBuffer);
    }

    @Override
    public SocketAddress localAddress() {
      return ShownAddress.of(control, local);
    }
  }

  @Override
  public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
    control.setOption(name, value);
    if (name.equals(StandardSocketOptions.SO_RCVBUF)) {
      receiveBuffer = (Integer) value;
    }
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> name) throws IOException {
    return control.getOption(name);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return control.supportedOptions();
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    return control.getLocalAddress();
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    if (block) {
      keys.cancelInner();
    }
    control.configureBlocking(block);
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    synchronized (lock) {
      if (announcement != null) {
        context.negotiator().retire(announcement);
      }
      if (counters != null) {
        counters.close();
      }
    }
    accepting.wakeAllAndAwait(); // no thread may poll a descriptor that is closed
    control.close();
  }

  @Override
  public String toString() {
    return "TalariaServerSocketChannel["
        + (isOpen() ? (local == null ? "unbound" : ShownAddress.of(control, local)) : "closed")
        + "]";
  }
}
