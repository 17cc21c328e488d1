// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.adaptor.ServerSocketAdaptor;
import io.talaria.nio.adaptor.TimedServerChannel;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.negotiation.Announcement;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A listener: the JDK's own, plus an announcement for clients of this host. Connections come from
 * the JDK's real backlog.
 */
final class TalariaServerSocketChannel extends ServerSocketChannel implements Registrable {
  private final Context context;
  private final ServerSocketChannel control;
  private final Object lock = new Object();
  private final RegisteredKeys keys = new RegisteredKeys();
  private volatile SocketAddress local;
  private Announcement announcement;
  private ConnectionCounters counters;
  private ServerSocket adaptor;

  TalariaServerSocketChannel(Context context, ServerSocketChannel control) {
    super(context.provider());
    this.context = context;
    this.control = control;
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
      control.bind(wanted, backlog);
      SocketAddress bound = control.getLocalAddress();
      local = bound;
      if (announcement == null && bound instanceof InetSocketAddress address) {
        counters = context.counters().connection(Role.LISTENER, bound, null);
        announcement = context.negotiator().announce(address, this::announced);
      }
    }
    return this;
  }

  private void announced(Reason reason) {
    counters.mode(reason == Reason.ANNOUNCED ? Mode.SHM : Mode.TCP, reason, "");
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
    return accepted == null ? null : TalariaSocketChannel.accepted(context, accepted);
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
      timed.setSoTimeout(
          (int) Math.max(1, Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(timeoutNs))));
      return TalariaSocketChannel.accepted(context, timed.accept().getChannel());
    }

    @Override
    public SocketAddress localAddress() {
      return local;
    }
  }

  @Override
  public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
    control.setOption(name, value);
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
    control.close();
  }

  @Override
  public String toString() {
    return "TalariaServerSocketChannel["
        + (isOpen() ? (local == null ? "unbound" : local) : "closed")
        + "]";
  }
}
