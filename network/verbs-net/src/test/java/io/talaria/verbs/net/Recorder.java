// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Somebody in the middle, who passes everything on and keeps what the connecting side says. */
final class Recorder implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final java.io.ByteArrayOutputStream kept = new java.io.ByteArrayOutputStream();
  private final InetSocketAddress target;

  /** Guarded by kept. */
  private Socket[] open = {};

  Recorder(InetSocketAddress target) throws IOException {
    this.target = target;
    Thread ignored = Thread.ofVirtual().start(this::run);
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /** The first frame that the connecting side has sent. */
  byte[] recorded() {
    synchronized (kept) {
      byte[] all = kept.toByteArray();
      int length = java.nio.ByteBuffer.wrap(all).getShort(8);
      return java.util.Arrays.copyOf(all, length);
    }
  }

  /** Ends both connections. */
  void cut() throws IOException {
    synchronized (kept) {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }

  private void run() {
    try (Socket from = listener.accept();
        Socket to = new Socket(target.getAddress(), target.getPort())) {
      synchronized (kept) {
        open = new Socket[] {from, to};
      }
      Thread back = Thread.ofVirtual().start(() -> pass(to, from, false));
      pass(from, to, true);
      to.shutdownOutput();
      back.join();
    } catch (IOException | InterruptedException e) {
      // The test is over.
    }
  }

  private void pass(Socket from, Socket to, boolean keep) {
    byte[] bytes = new byte[1024];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
        if (keep) {
          synchronized (kept) {
            kept.write(bytes, 0, count);
          }
        }
        out.write(bytes, 0, count);
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
