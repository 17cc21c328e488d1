// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.negotiation.Wire.Welcome;
import io.talaria.nio.process.Host;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The other end of a session, byte by byte: says what a test wants it to say. Blocking. */
public final class RawSession implements AutoCloseable {
  private static final long LOOK_AGAIN_NS = 20_000;

  private final SocketChannel channel;

  /** A frame that arrived. */
  public record Frame(int type, ByteBuffer body) {}

  RawSession(SocketChannel channel) {
    this.channel = channel;
  }

  public static RawSession dial(Path announcement) throws IOException {
    return new RawSession(SocketChannel.open(UnixDomainSocketAddress.of(announcement)));
  }

  /** Something that listens as an announcement of a port does. */
  public static final class Listener implements AutoCloseable {
    /** Where it stands. */
    public final Path path;

    private final ServerSocketChannel channel;

    public Listener(Path directory, int port) throws IOException {
      path =
          directory.resolve(
              Announcement.namePrefix(port) + ProcessFileName.digits(ProcessFileName.nextId()));
      channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      // It gets its name only once it listens, or a client that looks now takes it for stale.
      Path nameless = directory.resolve("test-" + path.getFileName());
      channel.bind(UnixDomainSocketAddress.of(nameless));
      Files.move(nameless, path);
    }

    public RawSession accept() throws IOException {
      return new RawSession(channel.accept());
    }

    /** Accepts a session that comes within some time; null if none does. */
    public RawSession accept(long withinMs) throws IOException {
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs);
      channel.configureBlocking(false);
      try {
        while (true) {
          SocketChannel accepted = channel.accept();
          if (accepted != null) {
            return new RawSession(accepted);
          }
          if (System.nanoTime() - deadline > 0) {
            return null;
          }
          LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
      } finally {
        channel.configureBlocking(true);
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  static Hello hello(String transport, ByteBuffer payload) {
    return new Hello(
        Wire.VERSION,
        Host.pid(),
        Host.bootId(),
        Host.networkNamespace(),
        false,
        transport,
        payload);
  }

  /** What a peer of the same network namespace says. */
  static ByteBuffer welcome(long pid) {
    return Wire.welcome(new Welcome(pid, false));
  }

  public void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** Writes what there is room for, and returns how many bytes that were. */
  int writeNow(ByteBuffer bytes) throws IOException {
    channel.configureBlocking(false);
    try {
      return channel.write(bytes);
    } finally {
      channel.configureBlocking(true);
    }
  }

  /** Reads so many bytes, of however many frames. */
  ByteBuffer readBytes(int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new IOException("the end, with " + bytes.remaining() + " bytes to come");
      }
    }
    return bytes.flip();
  }

  /** Reads the next frame; null at the end of the session. */
  public Frame read() throws IOException {
    return read(0);
  }

  /**
   * Reads the next frame; null at the end of the session.
   *
   * @param withinMs how long it may take; 0 for ever
   */
  public Frame read(long withinMs) throws IOException {
    long deadline = withinMs == 0 ? 0 : System.nanoTime() + withinMs * 1_000_000;
    channel.configureBlocking(withinMs == 0);
    ByteBuffer length = ByteBuffer.allocate(Wire.LENGTH_BYTES);
    if (!fill(length, deadline)) {
      return null;
    }
    ByteBuffer body = ByteBuffer.allocate(Short.toUnsignedInt(length.getShort(0)));
    if (!fill(body, deadline)) {
      return null;
    }
    channel.configureBlocking(true);
    body.flip();
    return new Frame(Byte.toUnsignedInt(body.get()), body);
  }

  private boolean fill(ByteBuffer buffer, long deadline) throws IOException {
    while (buffer.hasRemaining()) {
      try {
        int n = channel.read(buffer);
        if (n < 0) {
          return false;
        }
        if (n == 0) {
          if (System.nanoTime() - deadline > 0) {
            throw new SocketTimeoutException("no frame has come");
          }
          LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
      } catch (SocketTimeoutException e) {
        throw e;
      } catch (java.nio.channels.ClosedByInterruptException e) {
        throw e; // the test's deadline
      } catch (IOException e) {
        return false; // reset: it ended with bytes of ours unread
      }
    }
    return true;
  }

  /**
   * Throws away what has arrived, without waiting.
   *
   * @return false if the other side has ended the session
   */
  public boolean drain() throws IOException {
    ByteBuffer away = ByteBuffer.allocate(4096);
    channel.configureBlocking(false);
    try {
      int n;
      do {
        n = channel.read(away.clear());
      } while (n > 0);
      return n == 0;
    } catch (IOException e) {
      return false; // reset
    } finally {
      channel.configureBlocking(true);
    }
  }

  /** Reads the next frame, which must be of a type. */
  ByteBuffer expect(int type) throws IOException {
    Frame frame = read();
    if (frame == null || frame.type() != type) {
      throw new AssertionError("expected a frame of type " + type + ", got " + frame);
    }
    return frame.body();
  }

  /** The same, behind what transports say to each other before. */
  ByteBuffer expectBehindTransport(int type) throws IOException {
    Frame frame = read();
    while (frame != null && frame.type() == Wire.TRANSPORT) {
      frame = read();
    }
    if (frame == null || frame.type() != type) {
      throw new AssertionError("expected a frame of type " + type + ", got " + frame);
    }
    return frame.body();
  }

  /** Whether the session has been ended by the other side; skips frames on the way. */
  void awaitEnd() throws IOException {
    while (read() != null) {
      // Whatever it still has to say.
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
