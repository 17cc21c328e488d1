// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;

/** The streams of a {@code java.net.Socket}. */
final class NetLink implements Link {
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private byte[] outgoing = {};
  private byte[] incoming = {};

  NetLink(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    in = socket.getInputStream();
    out = socket.getOutputStream();
  }

  @Override
  public void prepare(int sizeBytes) {
    outgoing = new byte[sizeBytes];
    incoming = new byte[sizeBytes];
  }

  @Override
  public void send() throws IOException {
    out.write(outgoing);
  }

  @Override
  public void receive() throws IOException {
    int size = incoming.length;
    for (int got = 0; got < size; ) {
      int n = in.read(incoming, got, size - got);
      if (n < 0) {
        throw new EOFException("the peer ended the connection");
      }
      got += n;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
