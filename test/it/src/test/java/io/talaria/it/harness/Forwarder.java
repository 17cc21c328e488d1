// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Forwards TCP connections as a proxy would, with plain {@code java.net} sockets in the test's own
 * process. Any thread may call any method.
 */
public final class Forwarder implements Closeable {
  private final ServerSocket listener;
  private final InetSocketAddress target;
  private final Tamper tamper;
  private final AtomicLong forwarded = new AtomicLong();

  /** Changes bytes on their way, to see whether the tests notice. */
  @FunctionalInterface
  public interface Tamper {
    /**
     * May change what passes.
     *
     * @param chunk bytes on their way
     * @param length how many
     * @param position how many of this direction passed before
     * @return how many to pass on
     */
    int apply(byte[] chunk, int length, long position);
  }

  /**
   * Forwards faithfully.
   *
   * @param bind the address to listen on
   * @param port the port to listen on, or 0
   * @param target where to forward to
   * @throws IOException if it cannot listen
   */
  public Forwarder(String bind, int port, InetSocketAddress target) throws IOException {
    this(bind, port, target, (chunk, length, position) -> length);
  }

  /**
   * Forwards, and tampers with what the client sends.
   *
   * @param bind the address to listen on
   * @param port the port to listen on, or 0
   * @param target where to forward to
   * @param tamper changes the bytes
   * @throws IOException if it cannot listen
   */
  public Forwarder(String bind, int port, InetSocketAddress target, Tamper tamper)
      throws IOException {
    this.listener = new ServerSocket(port, 50, InetAddress.getByName(bind));
    this.target = target;
    this.tamper = tamper;
    start(this::accept);
  }

  /**
   * The port it listens on.
   *
   * @return a port
   */
  public int port() {
    return listener.getLocalPort();
  }

  /**
   * How much has passed, in both directions together.
   *
   * @return bytes
   */
  public long forwardedBytes() {
    return forwarded.get();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  private void accept() throws IOException {
    while (!listener.isClosed()) {
      Socket client = listener.accept();
      Socket server = new Socket(target.getAddress(), target.getPort());
      start(() -> pump(client, server, tamper));
      start(() -> pump(server, client, (chunk, length, position) -> length));
    }
  }

  private void pump(Socket from, Socket to, Tamper change) throws IOException {
    byte[] chunk = new byte[32 << 10];
    long position = 0;
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
      forwarded.addAndGet(read); // before the other end has it
      out.write(chunk, 0, change.apply(chunk, read, position));
      position += read;
    }
    to.shutdownOutput();
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // A connection, or the forwarder, was closed: so ends the work.
                return;
              }
            });
  }
}
