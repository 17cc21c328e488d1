// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/** The announcement of a listener, seen by somebody who means no good. */
public final class Announced {
  private final Path socket;

  private Announced(Path socket) {
    this.socket = socket;
  }

  /**
   * Waits for the announcement of a port; the file is the only sign of it.
   *
   * @param dir the run-time directory
   * @param port the listener's port
   * @return the announcement
   * @throws IOException if the directory cannot be read
   * @throws InterruptedException if the test's time is up
   */
  public static Announced await(Path dir, int port) throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (System.nanoTime() < deadlineNs) {
      Optional<Path> found = find(dir, "l-" + port + "-");
      if (found.isPresent()) {
        return new Announced(found.get());
      }
      Thread.sleep(5);
    }
    throw new AssertionError("port " + port + " is not announced in " + dir);
  }

  private static Optional<Path> find(Path dir, String prefix) throws IOException {
    if (!Files.isDirectory(dir)) {
      return Optional.empty();
    }
    try (Stream<Path> files = Files.list(dir)) {
      return files.filter(f -> f.getFileName().toString().startsWith(prefix)).findFirst();
    }
  }

  /**
   * Dials the listener's negotiation.
   *
   * @return a connection, blocking
   * @throws IOException if nobody answers
   */
  public SocketChannel dial() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(socket));
  }

  /**
   * Dials, sends something, and waits until the listener hangs up.
   *
   * @param what the bytes
   * @throws IOException if nobody answers
   */
  public void provoke(ByteBuffer what) throws IOException {
    try (SocketChannel session = dial()) {
      send(session, what.duplicate());
      session.shutdownOutput();
      awaitHangUp(session);
    } catch (IOException e) {
      if (!"Broken pipe".equals(e.getMessage())) {
        throw e;
      }
    }
  }

  /**
   * Sends on a session.
   *
   * @param session the session
   * @param what the bytes
   * @throws IOException if the listener has hung up
   */
  public static void send(SocketChannel session, ByteBuffer what) throws IOException {
    while (what.hasRemaining()) {
      session.write(what);
    }
  }

  /**
   * Reads until the listener hangs up.
   *
   * @param session the session
   * @throws IOException never but for a broken machine
   */
  public static void awaitHangUp(SocketChannel session) throws IOException {
    ByteBuffer answer = ByteBuffer.allocate(4096);
    try {
      while (session.read(answer.clear()) >= 0) {
        continue;
      }
    } catch (IOException e) {
      if (!"Connection reset".equals(e.getMessage())) {
        throw e;
      }
    }
  }

  /**
   * Stands between the listener and the next client that dials it, until this client hangs up, and
   * listens in.
   *
   * @param client makes a client connect; runs while the wire is tapped
   * @return everything that the client said
   * @throws Exception as the client throws it
   */
  public byte[] tap(Lab.Undo client) throws Exception {
    Path moved = socket.resolveSibling("moved");
    Files.move(socket, moved);
    try (ServerSocketChannel impostor = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      impostor.bind(UnixDomainSocketAddress.of(socket));
      Tapped tapped = new Tapped(impostor, moved);
      Thread thread = Thread.ofPlatform().daemon().start(tapped);
      client.run();
      thread.join();
      return tapped.heard();
    } finally {
      Files.move(moved, socket, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Forwards one session and keeps what the dialling side says. */
  private static final class Tapped implements Runnable {
    private final ServerSocketChannel listener;
    private final Path target;
    private final java.io.ByteArrayOutputStream heard = new java.io.ByteArrayOutputStream();

    Tapped(ServerSocketChannel listener, Path target) {
      this.listener = listener;
      this.target = target;
    }

    synchronized byte[] heard() {
      return heard.toByteArray();
    }

    @Override
    public void run() {
      try (SocketChannel client = listener.accept();
          SocketChannel server = SocketChannel.open(UnixDomainSocketAddress.of(target))) {
        Thread back = Thread.ofPlatform().daemon().start(() -> forward(server, client));
        ByteBuffer buffer = ByteBuffer.allocate(4096);
        while (client.read(buffer.clear()) >= 0) {
          buffer.flip();
          synchronized (this) {
            heard.write(buffer.array(), 0, buffer.limit());
          }
          send(server, buffer);
        }
        server.shutdownOutput();
        back.join();
      } catch (IOException | InterruptedException e) {
        throw new AssertionError("the tap broke", e);
      }
    }

    private static void forward(SocketChannel from, SocketChannel to) {
      try {
        Channels.newInputStream(from).transferTo(Channels.newOutputStream(to));
      } catch (IOException e) {
        // One of the two has hung up.
        return;
      }
    }
  }
}
