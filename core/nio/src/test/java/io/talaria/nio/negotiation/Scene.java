// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.shm.OwnProvider;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Talaria's channels and plain ones of one process, in directories of their own, and what its
 * counters show of them. All blocking; whatever it opened ends with it.
 */
final class Scene implements AutoCloseable {
  private static final long DEADLINE_NS = 30_000_000_000L;
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  private final Deque<Closeable> open = new ArrayDeque<>();
  private final Path run;
  private final OwnProvider talaria;

  /** In usable directories. */
  Scene(Path dir) throws IOException {
    this(privateDirectory(dir.resolve("run")), dir.resolve("shm"));
  }

  /** In these directories, whatever they are. */
  Scene(Path run, Path shm) {
    this.run = run;
    talaria = OwnProvider.open(run, shm);
    // Nothing is to appear in a directory that a short test has already given up.
    await(() -> talaria.counters().path() != null || talaria.counters().problem() != null);
  }

  /** Waits for what another thread does in a moment. */
  private static void await(BooleanSupplier done) {
    long start = System.nanoTime();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime() - start).as("waited ns").isLessThan(DEADLINE_NS);
      LockSupport.parkNanos(1_000_000);
    }
  }

  static Path privateDirectory(Path path) throws IOException {
    return Files.createDirectory(
        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private <C extends Closeable> C opened(C channel) {
    open.push(channel);
    return channel;
  }

  /** A listener of Talaria's. */
  ServerSocketChannel listen() throws IOException {
    ServerSocketChannel listener = opened(talaria.provider().openServerSocketChannel());
    listener.bind(new InetSocketAddress(LOOPBACK, 0));
    int port = port(listener);
    await(() -> shown(port, Role.LISTENER) != Reason.PENDING);
    return listener;
  }

  /** A listener of the JDK's. */
  ServerSocketChannel listenPlainly(InetAddress address) throws IOException {
    ServerSocketChannel listener = opened(JdkNio.provider().openServerSocketChannel());
    return listener.bind(new InetSocketAddress(address, 0));
  }

  ServerSocketChannel listenPlainly() throws IOException {
    return listenPlainly(LOOPBACK);
  }

  /** Announces a listener of the JDK's, as if it were of Talaria's. */
  RawSession.Listener announce(ServerSocketChannel listener) throws IOException {
    RawSession.Listener announced = new RawSession.Listener(run, port(listener));
    open.push(announced::close);
    return announced;
  }

  /** A connection of Talaria's. */
  SocketChannel connect(ServerSocketChannel listener) throws IOException {
    SocketChannel client = opened(talaria.provider().openSocketChannel());
    client.connect(listener.getLocalAddress());
    return client;
  }

  /** A connection of Talaria's to an address that is neither loopback nor its own. */
  SocketChannel connectFromLoopback(ServerSocketChannel listener) throws IOException {
    SocketChannel client = opened(talaria.provider().openSocketChannel());
    client.bind(new InetSocketAddress(LOOPBACK, 0)).connect(listener.getLocalAddress());
    return client;
  }

  /** A connection of the JDK's. */
  SocketChannel connectPlainly(ServerSocketChannel listener) throws IOException {
    SocketChannel client = opened(JdkNio.provider().openSocketChannel());
    client.connect(listener.getLocalAddress());
    return client;
  }

  SocketChannel accept(ServerSocketChannel listener) throws IOException {
    return opened(listener.accept());
  }

  /** A byte each way. */
  static void exchange(SocketChannel one, SocketChannel other) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(1);
    one.write(bytes);
    other.read(bytes.clear());
    other.write(bytes.clear());
    one.read(bytes.clear());
  }

  /** An address of this host that is no loopback address, if it has one. */
  static Optional<InetAddress> outerAddress() throws IOException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address.getAddress().length == LOOPBACK.getAddress().length)
        .filter(address -> !address.isLoopbackAddress())
        .findFirst();
  }

  /** The reason that the counters show of a channel. */
  Reason shown(NetworkChannel channel, Role role) throws IOException {
    return shown(port(channel), role);
  }

  private Reason shown(int port, Role role) {
    return talaria.counters().snapshot().stream()
        .filter(info -> info.role() == role && info.local().getPort() == port)
        .map(ConnectionInfo::reason)
        .findFirst()
        .orElse(null);
  }

  private static int port(NetworkChannel channel) throws IOException {
    return ((InetSocketAddress) channel.getLocalAddress()).getPort();
  }

  @Override
  public void close() throws IOException {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }
}
