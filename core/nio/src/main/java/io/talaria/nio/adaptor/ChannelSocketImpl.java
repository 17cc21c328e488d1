// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What stands behind a {@code java.net.Socket} or {@code ServerSocket} of a program: a channel, so
 * that the connection can be accelerated. Does what the JDK's own implementation does, in its
 * words. Any thread may call any method.
 */
public final class ChannelSocketImpl extends SocketImpl {
  /** The part of an array that one operation takes, as in the JDK. */
  private static final int MAX_BYTES = 128 << 10;

  private static final int DEFAULT_BACKLOG = 50;
  private static final String OOB_INLINE = "SO_OOBINLINE";

  private final SocketChannels channels;
  private final boolean server;
  private final ReentrantLock writeLock = new ReentrantLock();
  private volatile SocketChannels.Client client;
  private volatile SocketChannels.Listener listener;
  private volatile boolean closed;
  private volatile int timeoutMs;

  /**
   * IP_TOS of a listener, or -1 if the program has set none. A channel that listens has no such
   * option; what a socket passes on to the connections that it accepts is set on each of them.
   */
  private volatile int trafficClass = -1;

  /** The end of the stream was read: further reads say so even after a close. */
  private volatile boolean ended;

  /**
   * Makes an implementation without a channel, as a factory does.
   *
   * @param channels opens its channel
   * @param server whether it is for a {@code ServerSocket}
   */
  public ChannelSocketImpl(SocketChannels channels, boolean server) {
    this.channels = channels;
    this.server = server;
  }

  // ---- life

  @Override
  protected void create(boolean stream) throws IOException {
    if (!stream) {
      throw new IOException("Datagram socket creation not supported");
    }
    if (server) {
      SocketChannels.Listener opened = channels.openListener();
      listener = opened;
      Leaks.CLEANER.register(this, new Leaks(opened.channel()));
    } else {
      adopt(channels.openClient());
    }
    fd = new FileDescriptor(); // never valid; some programs look whether there is one
  }

  private void adopt(SocketChannels.Client opened) {
    client = opened;
    Leaks.CLEANER.register(this, new Leaks(opened.channel()));
  }

  /** Closes the channel of a socket that the program has lost, as the JDK does. */
  private static final class Leaks implements Runnable {
    static final Cleaner CLEANER = Cleaner.create();

    private final Channel channel;

    Leaks(Channel channel) {
      this.channel = channel;
    }

    @Override
    public void run() {
      try {
        channel.close();
      } catch (IOException e) {
        // The failure cannot be reported to any caller.
      }
    }
  }

  private NetworkChannel channel() throws SocketException {
    SocketChannels.Client connected = client;
    SocketChannels.Listener listening = listener;
    if (closed) {
      throw new SocketException("Socket closed");
    }
    if (connected == null && listening == null) {
      throw new SocketException("Socket not created");
    }
    return connected != null ? connected.channel() : listening.channel();
  }

  private SocketChannels.Client connected() throws SocketException {
    SocketChannels.Client found = client;
    if (closed) {
      throw new SocketException("Socket closed");
    }
    if (found == null || !found.channel().isConnected()) {
      throw new SocketException("Not connected");
    }
    return found;
  }

  @Override
  protected void close() throws IOException {
    closed = true;
    SocketChannels.Client open = client;
    if (open != null) {
      open.channel().close();
    }
    SocketChannels.Listener listening = listener;
    if (listening != null) {
      listening.channel().close();
    }
  }

  /** Says in the JDK's words what went wrong. */
  private IOException told(Exception e) {
    if (e instanceof InterruptedIOException interrupted) {
      return interrupted; // a time-out, or a virtual thread's interrupt, of which Socket knows
    }
    if (closed) {
      return new SocketException("Socket closed");
    }
    if (e instanceof ClosedChannelException) {
      return new SocketException("Broken pipe"); // the output has been shut down
    }
    return SocketExceptions.socket(e);
  }

  // ---- connecting

  @Override
  protected void connect(String host, int to) throws IOException {
    connect(new InetSocketAddress(host, to), 0);
  }

  @Override
  protected void connect(InetAddress to, int toPort) throws IOException {
    connect(new InetSocketAddress(to, toPort), 0);
  }

  @Override
  protected void connect(SocketAddress remote, int millis) throws IOException {
    if (!(remote instanceof InetSocketAddress internet)) {
      throw new IOException("Unsupported address type");
    }
    if (internet.isUnresolved()) {
      throw new UnknownHostException(internet.getHostName());
    }
    SocksProxies.refuse(internet);
    channel();
    InetAddress to = internet.getAddress();
    if (to.isAnyLocalAddress()) {
      to = InetAddress.getLocalHost();
    }
    address = to;
    port = internet.getPort();
    try {
      client
          .timed()
          .connect(new InetSocketAddress(to, port), TimeUnit.MILLISECONDS.toNanos(millis));
      localport = ((InetSocketAddress) client.timed().localAddress()).getPort();
    } catch (IOException | RuntimeException e) {
      final IOException told = toldOfConnect(e);
      close();
      throw told;
    }
  }

  private IOException toldOfConnect(Exception e) {
    if (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException)) {
      return new SocketException("Closed by interrupt");
    }
    return told(e);
  }

  @Override
  protected void bind(InetAddress host, int wanted) throws IOException {
    NetworkChannel open = channel();
    address = host;
    if (server) {
      localport = wanted; // a listener binds and listens at once
      return;
    }
    try {
      open.bind(new InetSocketAddress(host, wanted));
      localport = ((InetSocketAddress) open.getLocalAddress()).getPort();
    } catch (IOException | RuntimeException e) {
      throw told(e);
    }
  }

  @Override
  protected void listen(int backlog) throws IOException {
    channel();
    try {
      listener
          .channel()
          .bind(new InetSocketAddress(address, localport), backlog < 1 ? DEFAULT_BACKLOG : backlog);
      localport = ((InetSocketAddress) listener.channel().getLocalAddress()).getPort();
    } catch (IOException | RuntimeException e) {
      throw told(e);
    }
  }

  @Override
  protected void accept(SocketImpl to) throws IOException {
    channel();
    if (!(to instanceof ChannelSocketImpl accepted)) {
      throw new IOException("cannot accept a connection with an instance of " + to.getClass());
    }
    SocketChannels.Client connection;
    try {
      connection = listener.accept(TimeUnit.MILLISECONDS.toNanos(timeoutMs));
    } catch (IOException | RuntimeException e) {
      throw told(e);
    }
    SocketChannels.Client before = accepted.client;
    accepted.adopt(connection);
    InetSocketAddress remote = (InetSocketAddress) connection.timed().remoteAddress();
    accepted.address = remote.getAddress();
    accepted.port = remote.getPort();
    accepted.localport = ((InetSocketAddress) connection.timed().localAddress()).getPort();
    if (before != null) {
      before.channel().close();
    }
    if (trafficClass >= 0) {
      connection.channel().setOption(StandardSocketOptions.IP_TOS, trafficClass);
    }
    if (accepted.closed) {
      connection.channel().close();
      throw new SocketException("Socket closed");
    }
  }

  // ---- streams

  @Override
  protected InputStream getInputStream() {
    return new In();
  }

  @Override
  protected OutputStream getOutputStream() {
    return new Out();
  }

  private final class In extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] to, int offset, int lengthBytes) throws IOException {
      Objects.checkFromIndexSize(offset, lengthBytes, to.length);
      if (lengthBytes == 0) {
        return 0;
      }
      if (ended) {
        return -1;
      }
      try {
        int most = Math.min(lengthBytes, MAX_BYTES);
        int n =
            connected()
                .timed()
                .read(ByteBuffer.wrap(to, offset, most), TimeUnit.MILLISECONDS.toNanos(timeoutMs));
        if (n < 0) {
          ended = true;
        }
        return n;
      } catch (IOException | RuntimeException e) {
        throw told(e);
      }
    }

    @Override
    public int available() throws IOException {
      return ChannelSocketImpl.this.available();
    }

    @Override
    public void close() throws IOException {
      ChannelSocketImpl.this.close();
    }
  }

  private final class Out extends OutputStream {
    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int lengthBytes) throws IOException {
      Objects.checkFromIndexSize(offset, lengthBytes, from.length);
      int end = offset + lengthBytes;
      writeLock.lock();
      try {
        for (int at = offset; at < end; ) {
          int n = Math.min(end - at, MAX_BYTES);
          ByteBuffer part = ByteBuffer.wrap(from, at, n);
          while (part.hasRemaining()) {
            connected().channel().write(part);
          }
          at += n;
        }
      } catch (IOException | RuntimeException e) {
        throw told(e);
      } finally {
        writeLock.unlock();
      }
    }

    @Override
    public void close() throws IOException {
      ChannelSocketImpl.this.close();
    }
  }

  @Override
  protected int available() throws IOException {
    try {
      return connected().timed().available();
    } catch (IOException | RuntimeException e) {
      throw told(e);
    }
  }

  @Override
  protected void shutdownInput() throws IOException {
    try {
      connected().channel().shutdownInput();
    } catch (IOException | RuntimeException e) {
      throw told(e);
    }
  }

  @Override
  protected void shutdownOutput() throws IOException {
    try {
      connected().channel().shutdownOutput();
    } catch (IOException | RuntimeException e) {
      throw told(e);
    }
  }

  /** Urgent data has no place in a ring; {@code Socket} says that it is not supported. */
  @Override
  protected boolean supportsUrgentData() {
    return false;
  }

  @Override
  protected void sendUrgentData(int data) throws IOException {
    throw new SocketException("Urgent data not supported");
  }

  // ---- options

  /** Also after the close: they belong to the kind of socket, not to its state. */
  @Override
  protected Set<SocketOption<?>> supportedOptions() {
    SocketChannels.Client connected = client;
    SocketChannels.Listener listening = listener;
    if (connected == null && listening == null) {
      return Set.of();
    }
    NetworkChannel known = connected != null ? connected.channel() : listening.channel();
    Set<SocketOption<?>> options = new HashSet<>(known.supportedOptions());
    options.removeIf(option -> option.name().equals(OOB_INLINE));
    if (server) {
      options.add(StandardSocketOptions.IP_TOS);
    }
    return options;
  }

  @Override
  protected <T> void setOption(SocketOption<T> name, T value) throws IOException {
    NetworkChannel open = channel();
    if (!supportedOptions().contains(name)) {
      throw new UnsupportedOperationException("'" + name + "' not supported");
    }
    if (!name.type().isInstance(value)) {
      throw new IllegalArgumentException("Invalid value '" + value + "'");
    }
    set(open, name, value);
  }

  @Override
  protected <T> T getOption(SocketOption<T> name) throws IOException {
    return get(channel(), name);
  }

  private <T> void set(NetworkChannel open, SocketOption<T> name, T value) throws SocketException {
    if (server && name.equals(StandardSocketOptions.IP_TOS)) {
      trafficClass = trafficClass((Integer) value);
      return;
    }
    try {
      open.setOption(name, value);
    } catch (IOException e) {
      throw toldOfOption(e);
    }
  }

  private <T> T get(NetworkChannel open, SocketOption<T> name) throws SocketException {
    if (server && name.equals(StandardSocketOptions.IP_TOS)) {
      return name.type().cast(Math.max(trafficClass, 0));
    }
    try {
      return open.getOption(name);
    } catch (IOException e) {
      throw toldOfOption(e);
    }
  }

  /** As the kernel keeps it of a TCP socket: without the two bits of congestion notification. */
  private static int trafficClass(int value) {
    if (value < 0 || value > 255) {
      throw new IllegalArgumentException("Invalid IP_TOS value");
    }
    return value & ~3;
  }

  private SocketException toldOfOption(IOException e) {
    return told(e) instanceof SocketException already ? already : SocketExceptions.socket(e);
  }

  @Override
  public void setOption(int option, Object value) throws SocketException {
    NetworkChannel open = channel();
    switch (option) {
      case SO_TIMEOUT -> {
        int timeout = number(value, "SO_TIMEOUT");
        if (timeout < 0) {
          throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMs = timeout;
      }
      case SO_LINGER ->
          set(
              open,
              StandardSocketOptions.SO_LINGER,
              Boolean.FALSE.equals(value) ? -1 : number(value, "SO_LINGER"));
      case IP_TOS -> set(open, StandardSocketOptions.IP_TOS, number(value, "IP_TOS"));
      case TCP_NODELAY -> set(open, StandardSocketOptions.TCP_NODELAY, flag(value, "TCP_NODELAY"));
      case SO_SNDBUF -> set(open, StandardSocketOptions.SO_SNDBUF, size(value, "SO_SNDBUF"));
      case SO_RCVBUF -> set(open, StandardSocketOptions.SO_RCVBUF, size(value, "SO_RCVBUF"));
      case SO_KEEPALIVE ->
          set(open, StandardSocketOptions.SO_KEEPALIVE, flag(value, "SO_KEEPALIVE"));
      case SO_OOBINLINE -> set(open, oobInline(open), flag(value, OOB_INLINE));
      case SO_REUSEADDR ->
          set(open, StandardSocketOptions.SO_REUSEADDR, flag(value, "SO_REUSEADDR"));
      case SO_REUSEPORT ->
          set(open, StandardSocketOptions.SO_REUSEPORT, flag(value, "SO_REUSEPORT"));
      default -> throw new SocketException("Unknown option " + option);
    }
  }

  @Override
  public Object getOption(int option) throws SocketException {
    NetworkChannel open = channel();
    return switch (option) {
      case SO_TIMEOUT -> timeoutMs;
      case SO_LINGER -> {
        int seconds = get(open, StandardSocketOptions.SO_LINGER);
        yield seconds < 0 ? (Object) false : (Object) seconds;
      }
      case IP_TOS -> get(open, StandardSocketOptions.IP_TOS);
      case TCP_NODELAY -> get(open, StandardSocketOptions.TCP_NODELAY);
      case SO_SNDBUF -> get(open, StandardSocketOptions.SO_SNDBUF);
      case SO_RCVBUF -> get(open, StandardSocketOptions.SO_RCVBUF);
      case SO_KEEPALIVE -> get(open, StandardSocketOptions.SO_KEEPALIVE);
      case SO_OOBINLINE -> get(open, oobInline(open));
      case SO_REUSEADDR -> get(open, StandardSocketOptions.SO_REUSEADDR);
      case SO_REUSEPORT -> get(open, StandardSocketOptions.SO_REUSEPORT);
      case SO_BINDADDR -> boundTo(open);
      default -> throw new SocketException("Unknown option " + option);
    };
  }

  private InetAddress boundTo(NetworkChannel open) throws SocketException {
    try {
      InetSocketAddress local = (InetSocketAddress) open.getLocalAddress();
      return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    } catch (IOException e) {
      throw toldOfOption(e);
    }
  }

  /** The JDK's channels have this option, but no public name for it. */
  @SuppressWarnings("unchecked") // The option of that name is a Boolean one.
  private static SocketOption<Boolean> oobInline(NetworkChannel open) throws SocketException {
    for (SocketOption<?> option : open.supportedOptions()) {
      if (option.name().equals(OOB_INLINE) && option.type() == Boolean.class) {
        return (SocketOption<Boolean>) option;
      }
    }
    throw new SocketException("Unknown option " + OOB_INLINE);
  }

  private static int number(Object value, String name) throws SocketException {
    if (value instanceof Integer number) {
      return number;
    }
    throw new SocketException("Bad value for " + name);
  }

  private static int size(Object value, String name) throws SocketException {
    int size = number(value, name);
    if (size <= 0) {
      throw new SocketException(name + " <= 0");
    }
    return size;
  }

  private static boolean flag(Object value, String name) throws SocketException {
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw new SocketException("Bad value for " + name);
  }
}
