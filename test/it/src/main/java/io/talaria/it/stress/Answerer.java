// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** The end that was accepted: gives every request back, and closes when told to. */
final class Answerer extends End {
  private ByteBuffer in = ByteBuffer.allocate(Frame.HEADER_BYTES);
  private ByteBuffer out;

  Answerer(Node node, SocketChannel channel, long seed) {
    super(node, channel, seed);
  }

  /** Begins to serve a channel that has just been accepted. */
  void begin(boolean blocking) throws IOException {
    expect("a request or the end");
    if (blocking && !node.quiet()) {
      block();
      return;
    }
    channel.configureBlocking(false);
    register();
  }

  @Override
  synchronized int wanted() {
    return out == null ? SelectionKey.OP_READ : SelectionKey.OP_WRITE;
  }

  @Override
  boolean idle() {
    return out == null && in.position() == 0;
  }

  @Override
  boolean pump() throws IOException {
    for (int turns = 1 + chance.nextInt(8); turns > 0; turns--) {
      if (out != null && !answer()) {
        return true;
      }
      int read = readSome();
      if (read < 0) {
        return false;
      }
      if (read == 0) {
        return true;
      }
    }
    return true;
  }

  private int readSome() throws IOException {
    int read = channel.read(in);
    if (read > 0) {
      expect("a request or the end");
    }
    if (!in.hasRemaining()) {
      if (in.capacity() == Frame.HEADER_BYTES && Frame.length(in) > Frame.HEADER_BYTES) {
        id = Frame.connection(in);
        ByteBuffer all = Frame.allocate(chance, Frame.length(in));
        in = all.put(in.flip());
      } else {
        id = Frame.connection(in);
        out = in.flip();
        in = ByteBuffer.allocate(Frame.HEADER_BYTES);
      }
    }
    return read;
  }

  /** Writes what it can; false if not all. */
  private boolean answer() throws IOException {
    node.moved(channel.write(out));
    if (out.hasRemaining()) {
      return false;
    }
    boolean bye = Frame.flags(out) == Frame.BYE;
    out = null;
    met();
    expect("a request or the end");
    if (bye) {
      close(false);
    }
    return true;
  }

  @Override
  void live(int requests) throws IOException {
    for (int i = 0; i < requests && phase == Phase.BLOCKING; ) {
      if (readSome() < 0) {
        end();
        return;
      }
      if (out != null) {
        answer();
        i++;
      }
    }
  }

  @Override
  int peerPort() {
    return 0;
  }

  @Override
  void over() {}
}
