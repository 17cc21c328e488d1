// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.Connections;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Under a security manager: uses channels in every way in which Talaria works on the program's
 * stack, and tries what the policy forbids. Prints what comes of it on the standard output, and the
 * transports of its connections on the error stream.
 */
public final class GuardedMain {
  private static final int LARGE_BYTES = 3_000_000;
  private static final int ROUNDS = 60;
  private static final int FORBIDDEN_PORT = 1;
  private static final String FORBIDDEN_HOST = "127.0.0.2";
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  private GuardedMain() {}

  /**
   * Does it all, once.
   *
   * @param arguments whether its connections are to be accelerated
   */
  public static void main(String[] arguments) throws Exception {
    boolean accelerated = Boolean.parseBoolean(arguments[0]);
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(LOOPBACK, 0));
      channels(listener, accelerated);
      adaptors(listener);
      forbidden(listener);
    }
    sockets();
    System.exit(0);
  }

  private static void channels(ServerSocketChannel listener, boolean accelerated) throws Exception {
    try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
        SocketChannel server = listener.accept();
        Selector selector = Selector.open()) {
      for (int i = 0; i < ROUNDS || (accelerated && !Transports.all("SHM")); i++) {
        write(client, new byte[] {1});
        read(server, 1);
        write(server, new byte[] {1});
        read(client, 1);
        pause(10);
      }
      out("address", client.getLocalAddress().equals(server.getRemoteAddress()));
      System.err.println("transports " + Transports.seen());
      byte[] large = new byte[LARGE_BYTES];
      for (int i = 0; i < large.length; i++) {
        large[i] = (byte) ((i * 31) >>> 3);
      }
      for (int i = 0; i < 3; i++) {
        FutureTask<byte[]> received = later(0, () -> read(server, LARGE_BYTES));
        write(client, large);
        out("large", Arrays.equals(large, received.get()));
      }
      for (int i = 0; i < 3; i++) {
        FutureTask<Integer> written = later(300, () -> write(client, new byte[] {7}));
        out("sleeping read", read(server, 1)[0]);
        out("written", written.get());
      }
      server.configureBlocking(false);
      SelectionKey key = server.register(selector, SelectionKey.OP_READ);
      for (int i = 0; i < 3; i++) {
        FutureTask<Integer> written = later(300, () -> write(client, new byte[] {7, 8}));
        out("select", selector.select());
        out("read", server.read(ByteBuffer.allocate(2)));
        out("written", written.get());
        selector.selectedKeys().clear();
      }
      key.cancel();
      out("select now", selector.selectNow());
      server.configureBlocking(true);
      client.shutdownOutput();
      out("end", server.read(ByteBuffer.allocate(1)));
    }
  }

  private static void adaptors(ServerSocketChannel listener) throws Exception {
    try (SocketChannel client = SocketChannel.open()) {
      client.bind(null);
      out("unconnected", ((InetSocketAddress) client.getLocalAddress()).getAddress());
      client.socket().connect(listener.getLocalAddress(), 30_000);
      listener.socket().setSoTimeout(30_000);
      try (Socket server = listener.socket().accept()) {
        client.socket().getOutputStream().write(5);
        server.setSoTimeout(30_000);
        out("adaptor", server.getInputStream().read());
        out("adaptor's address", server.getLocalAddress());
      }
    }
    try (ServerSocketChannel wildcard = ServerSocketChannel.open().bind(null)) {
      out("wildcard", ((InetSocketAddress) wildcard.getLocalAddress()).getAddress());
      out("its adaptor", wildcard.socket().getInetAddress());
    }
  }

  private static void forbidden(ServerSocketChannel listener) throws Exception {
    InetSocketAddress there = (InetSocketAddress) listener.getLocalAddress();
    InetSocketAddress low = new InetSocketAddress(LOOPBACK, FORBIDDEN_PORT);
    try (SocketChannel client = SocketChannel.open();
        ServerSocketChannel other = ServerSocketChannel.open()) {
      attempt("connect", () -> client.connect(low));
      attempt("adaptor's connect", () -> SocketChannel.open().socket().connect(low, 1000));
      attempt("listen", () -> other.bind(low));
    }
    try (SocketChannel client = SocketChannel.open()) {
      client.bind(new InetSocketAddress(FORBIDDEN_HOST, 0));
      client.connect(there);
      attempt("accept", () -> listener.accept());
    }
    attempt("socket", () -> new Socket(LOOPBACK, FORBIDDEN_PORT).close());
    attempt("properties", () -> out("properties", System.getProperties().size()));
  }

  private static void sockets() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 5, LOOPBACK)) {
      FutureTask<Integer> read =
          later(
              0,
              () -> {
                try (Socket server = listener.accept()) {
                  return server.getInputStream().read();
                }
              });
      try (Socket client = new Socket(LOOPBACK, listener.getLocalPort())) {
        pause(300);
        client.getOutputStream().write(9);
        out("socket", read.get());
      }
    }
  }

  private static byte[] read(SocketChannel from, int bytes) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(bytes);
    while (into.hasRemaining() && from.read(into) >= 0) {
      // More is to come.
    }
    return into.array();
  }

  private static int write(SocketChannel to, byte[] bytes) throws IOException {
    return to.write(ByteBuffer.wrap(bytes));
  }

  private static <T> FutureTask<T> later(int afterMs, Callable<T> work) {
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              pause(afterMs);
              return work.call();
            });
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  /** So that the other side falls asleep; nothing depends on it. */
  private static void pause(int ms) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ms));
  }

  private interface Attempt {
    void run() throws Exception;
  }

  private static void attempt(String what, Attempt attempt) {
    try {
      attempt.run();
      out(what, "is allowed");
    } catch (Exception e) {
      out(
          what,
          e.getClass().getName() + " " + String.valueOf(e.getMessage()).replaceAll("\\d{4,}", "N"));
    }
  }

  private static void out(String what, Object result) {
    System.out.println(what + " = " + result);
  }

  /** Apart, because the plain run has no Talaria. */
  private static final class Transports {
    private Transports() {}

    static String seen() {
      try {
        return Connections.snapshot().stream()
            .map(each -> each.role() + " " + each.transport() + " " + each.reason())
            .toList()
            .toString();
      } catch (LinkageError e) {
        return "none";
      }
    }

    static boolean all(String transport) {
      return Connections.snapshot().stream()
          .allMatch(each -> each.transport().name().equals(transport));
    }
  }
}
