// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Letters between two processes, which may be on two hosts. */
final class SocketPost implements Sides.Post {
  private static final int MAX_BYTES = 1 << 20;
  private static final int PATIENCE_MS = 60_000;
  private static final int AGAIN_MS = 100;

  private final boolean first;
  private final DataInputStream in;
  private final DataOutputStream out;

  private SocketPost(boolean first, Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MS);
    this.first = first;
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(socket.getOutputStream());
  }

  /** Waits for the other process: this one is the first side. */
  static SocketPost listen(int port) throws IOException {
    try (ServerSocket server = new ServerSocket(port)) {
      server.setSoTimeout(PATIENCE_MS);
      return new SocketPost(true, server.accept());
    }
  }

  /** Finds the other process, which may be about to start: this one is the second side. */
  static SocketPost connect(String host, int port) throws IOException, InterruptedException {
    for (int waitedMs = 0; ; waitedMs += AGAIN_MS) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(host, port), PATIENCE_MS);
        return new SocketPost(false, socket);
      } catch (ConnectException nobodyYet) {
        socket.close();
        if (waitedMs >= PATIENCE_MS) {
          throw nobodyYet;
        }
        Thread.sleep(AGAIN_MS);
      }
    }
  }

  /** Whether the first of the two sides is here. */
  boolean first() {
    return first;
  }

  @Override
  public byte[] swap(byte[] mine) throws IOException {
    out.writeInt(mine.length);
    out.write(mine);
    out.flush();
    int length = in.readInt();
    if (length < 0 || length > MAX_BYTES) {
      throw new IOException("a letter of " + length + " bytes");
    }
    return in.readNBytes(length);
  }
}
