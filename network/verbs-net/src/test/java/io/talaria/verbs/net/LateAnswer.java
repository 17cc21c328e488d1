// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Passes a handshake on, but its answer only when the test says so. */
final class LateAnswer implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final InetSocketAddress target;
  private final CountDownLatch answered = new CountDownLatch(1);
  private final CountDownLatch passing = new CountDownLatch(1);

  LateAnswer(InetSocketAddress target) throws IOException {
    this.target = target;
    Thread ignored = Thread.ofVirtual().start(this::run);
  }

  /** Connects by way of this, until the answer has come and is kept back. */
  CompletableFuture<Connection> connect(VerbsNode node) throws InterruptedException {
    CompletableFuture<Connection> made = new CompletableFuture<>();
    Thread ignored =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    made.complete(
                        node.connect(
                            (InetSocketAddress) listener.getLocalSocketAddress(), (c, m) -> {}));
                  } catch (IOException | RuntimeException e) {
                    made.completeExceptionally(e);
                  }
                });
    if (!answered.await(Pair.LIMIT_NS, TimeUnit.NANOSECONDS)) {
      throw new AssertionError("no answer has come");
    }
    return made;
  }

  /** The answer goes on its way. */
  void pass() {
    passing.countDown();
  }

  private void run() {
    try (Socket from = listener.accept();
        Socket to = new Socket(target.getAddress(), target.getPort())) {
      Thread back = Thread.ofVirtual().start(() -> back(to, from));
      pass(from.getInputStream(), to.getOutputStream());
      to.shutdownOutput();
      back.join();
    } catch (IOException | InterruptedException e) {
      // The test is over.
    }
  }

  private void back(Socket from, Socket to) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      out.write(in.readNBytes(Frame.HEADER_BYTES)); // the challenge
      int first = in.read();
      answered.countDown();
      passing.await();
      if (first >= 0) {
        out.write(first);
      }
      pass(in, out);
      to.shutdownOutput();
    } catch (IOException | InterruptedException e) {
      // The test is over.
    }
  }

  private static void pass(InputStream in, OutputStream out) throws IOException {
    byte[] bytes = new byte[1024];
    for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
      out.write(bytes, 0, count);
    }
  }

  @Override
  public void close() throws IOException {
    pass();
    listener.close();
  }
}
