// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.TalariaProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The listener of {@link Traffic}: one thread with one selector, which sleeps without limit. Each
 * connection says by frames what it wants:
 *
 * <pre>
 *   ECHO   0:1 bytes:4 seed:8 ...   so many bytes there and back; another frame follows
 *   SINK   1:1 bytes:4 seed:8 ...   so many bytes there, and the end
 *   SOURCE 2:1 bytes:4 seed:8       so many bytes back, and the end at once
 *   ANSWER 3:1 bytes:4 seed:8       the end, and then as SOURCE
 *   FLOOD  4:1 0:4     seed:8 ...   any bytes there, for ever
 * </pre>
 */
final class TrafficServer {
  static final int ECHO = 0;
  static final int SINK = 1;
  static final int SOURCE = 2;
  static final int ANSWER = 3;
  static final int FLOOD = 4;

  /** Of an ECHO whose client does not await it, which is a reset. */
  static final long UNREAD = -1;

  static final int FRAME_BYTES = 1 + Integer.BYTES + Long.BYTES;
  static final int MAX_ECHOED_BYTES = 32 << 10;

  /** Seeds of those whose bytes have all come. */
  final Set<Long> sunk = ConcurrentHashMap.newKeySet();

  private final boolean strict;
  private final ServerSocketChannel listener;
  private final Selector selector;
  private final ByteBuffer in = ByteBuffer.allocateDirect(64 << 10);

  /**
   * @param strict whether a connection that ends too early ends the process: its client is not to
   *     be killed
   */
  TrafficServer(TalariaProvider provider, boolean strict) throws IOException {
    this.strict = strict;
    listener = provider.openServerSocketChannel();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 256);
    selector = provider.openSelector();
    Thread thread = new Thread(() -> Traffic.orEnd(this::serve), "server");
    thread.setDaemon(true);
    thread.start();
  }

  InetSocketAddress address() throws IOException {
    return (InetSocketAddress) listener.getLocalAddress();
  }

  private void serve() throws IOException {
    listener.configureBlocking(false);
    listener.register(selector, SelectionKey.OP_ACCEPT);
    while (true) {
      selector.select();
      for (SelectionKey key : selector.selectedKeys()) {
        if (key.channel() == listener) {
          acceptAll();
        } else {
          ((Served) key.attachment()).go(key);
        }
      }
      selector.selectedKeys().clear();
    }
  }

  private void acceptAll() throws IOException {
    SocketChannel accepted = listener.accept();
    while (accepted != null) {
      accepted.configureBlocking(false);
      accepted.register(selector, SelectionKey.OP_READ, new Served());
      accepted = listener.accept();
    }
  }

  /** One connection. */
  private final class Served {
    private final ByteBuffer frame = ByteBuffer.allocate(FRAME_BYTES);
    private int kind = -1;
    private int bytes;
    private long seed;
    private int done;

    /** To be written. */
    private ByteBuffer out = ByteBuffer.allocate(0);

    void go(SelectionKey key) throws IOException {
      SocketChannel channel = (SocketChannel) key.channel();
      try {
        boolean open = goOn(channel);
        if (open) {
          key.interestOps(out.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        } else {
          channel.close();
        }
      } catch (IOException e) { // a reset, which clients may want
        channel.close();
        if (strict && seed != UNREAD) {
          throw new IOException(this + ": " + e, e);
        }
      }
    }

    /** Goes on as far as it may; false at the end. */
    private boolean goOn(SocketChannel channel) throws IOException {
      while (write(channel)) {
        if (kind == SOURCE) {
          return false;
        }
        in.clear();
        if (kind < 0) {
          in.limit(frame.remaining());
        } else if (kind == ECHO) {
          in.limit(Math.min(in.capacity(), bytes - done));
        }
        int count = channel.read(in);
        if (count == 0) {
          return true;
        }
        in.flip();
        if (count < 0 && kind == ANSWER) {
          kind = SOURCE;
          continue;
        }
        if (count < 0) {
          end();
          return false;
        }
        take();
        if (kind == FLOOD) {
          return true; // others have their turn
        }
      }
      return true;
    }

    /** Writes what waits, and what SOURCE has still to give; whether that is all. */
    private boolean write(SocketChannel channel) throws IOException {
      while (true) {
        channel.write(out);
        if (out.hasRemaining()) {
          return false;
        }
        if (kind != SOURCE || done == bytes) {
          return true;
        }
        out = ByteBuffer.allocate(Math.min(MAX_ECHOED_BYTES, bytes - done));
        Pattern.fill(out, seed, done);
        done += out.position();
        out.flip();
      }
    }

    private void take() {
      if (kind < 0) {
        frame.put(in);
        if (!frame.hasRemaining()) {
          frame.flip();
          kind = frame.get();
          bytes = frame.getInt();
          seed = frame.getLong();
          frame.clear();
          done = 0;
          if (kind == ECHO && bytes == 0) {
            kind = -1;
          }
        }
        return;
      }
      if (kind == FLOOD) {
        return;
      }
      int count = in.remaining();
      ByteBuffer copy = in.duplicate();
      Pattern.check(copy, seed, done);
      done += count;
      if (kind == ECHO) {
        out = ByteBuffer.allocate(count).put(in).flip();
        if (done == bytes) {
          kind = -1;
        }
      }
    }

    private void end() throws IOException {
      if (kind == SINK) {
        if (done == bytes) {
          sunk.add(seed);
          return;
        }
      } else if (kind < 0 && frame.position() == 0) {
        return;
      }
      if (strict && seed != UNREAD) {
        throw new IOException("the end too early of " + this);
      }
    }

    @Override
    public String toString() {
      return done + " of " + bytes + " bytes of seed " + seed + ", kind " + kind;
    }
  }
}
