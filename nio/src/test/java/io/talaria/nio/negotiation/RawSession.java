// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.config.Host;
import io.talaria.nio.config.ProcessFileName;
import io.talaria.nio.negotiation.Wire.Hello;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** The other end of a session, byte by byte: says what a test wants it to say. Blocking. */
final class RawSession implements AutoCloseable {
  private final SocketChannel channel;

  /** A frame that arrived. */
  record Frame(int type, ByteBuffer body) {}

  RawSession(SocketChannel channel) {
    this.channel = channel;
  }

  static RawSession dial(Path announcement) throws IOException {
    return new RawSession(SocketChannel.open(UnixDomainSocketAddress.of(announcement)));
  }

  /** Something that listens as an announcement of a port does. */
  static final class Listener implements AutoCloseable {
    final Path path;
    private final ServerSocketChannel channel;

    Listener(Path directory, int port) throws IOException {
      path =
          directory.resolve(
              Announcement.namePrefix(port) + ProcessFileName.digits(ProcessFileName.nextId()));
      channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      // It gets its name only once it listens, or a client that looks now takes it for stale.
      Path nameless = directory.resolve("test-" + path.getFileName());
      channel.bind(UnixDomainSocketAddress.of(nameless));
      Files.move(nameless, path);
    }

    RawSession accept() throws IOException {
      return new RawSession(channel.accept());
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  static Hello hello(String fabric, ByteBuffer payload) {
    return new Hello(
        Wire.VERSION, Host.pid(), Host.bootId(), Host.networkNamespace(), fabric, payload);
  }

  void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** Reads the next frame; null at the end of the session. */
  Frame read() throws IOException {
    ByteBuffer length = ByteBuffer.allocate(Wire.LENGTH_BYTES);
    if (!fill(length)) {
      return null;
    }
    ByteBuffer body = ByteBuffer.allocate(Short.toUnsignedInt(length.getShort(0)));
    if (!fill(body)) {
      return null;
    }
    body.flip();
    return new Frame(Byte.toUnsignedInt(body.get()), body);
  }

  private boolean fill(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      try {
        if (channel.read(buffer) < 0) {
          return false;
        }
      } catch (java.nio.channels.ClosedByInterruptException e) {
        throw e; // the test's deadline
      } catch (IOException e) {
        return false; // reset: it ended with bytes of ours unread
      }
    }
    return true;
  }

  /** Reads the next frame, which must be of a type. */
  ByteBuffer expect(int type) throws IOException {
    Frame frame = read();
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
