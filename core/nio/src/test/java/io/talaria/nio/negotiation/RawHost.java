// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.authentication.Handshake;
import io.talaria.nio.authentication.Seal;
import io.talaria.nio.transport.TransportException;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SignatureException;

/** The other end of a rendezvous, byte by byte: says what a test wants it to say. Blocking. */
final class RawHost implements AutoCloseable {
  final SocketChannel channel;
  private Seal seal;

  RawHost(SocketChannel channel) {
    this.channel = channel;
  }

  static RawHost call(InetSocketAddress rendezvous) throws IOException {
    return new RawHost(SocketChannel.open(rendezvous));
  }

  /** Proves to have the key, as an honest side does. */
  RawHost prove(boolean caller, byte[] key) throws IOException, TransportException {
    InetSocketAddress own = (InetSocketAddress) channel.getLocalAddress();
    InetSocketAddress peer = (InetSocketAddress) channel.getRemoteAddress();
    ConnectionKey ends = caller ? new ConnectionKey(own, peer) : new ConnectionKey(peer, own);
    Handshake handshake = new Handshake(caller, key, ends.encoded());
    write(handshake.first());
    while (handshake.wantedBytes() > 0) {
      write(handshake.received(read(handshake.wantedBytes())));
    }
    seal = handshake.seal();
    return this;
  }

  void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  ByteBuffer read(int bytes) throws IOException {
    ByteBuffer read = ByteBuffer.allocate(bytes);
    while (read.hasRemaining()) {
      if (channel.read(read) < 0) {
        throw new EOFException(read.remaining() + " bytes more were to come");
      }
    }
    return read.flip();
  }

  /** A frame as it goes over the wire. */
  ByteBuffer sealed(ByteBuffer frame) {
    return seal.close(frame);
  }

  void say(ByteBuffer frame) throws IOException {
    write(sealed(frame));
  }

  /** The body of the next frame, which must be of a type. */
  ByteBuffer expect(int type) throws IOException, SignatureException {
    int length = Short.toUnsignedInt(read(Wire.LENGTH_BYTES).getShort());
    ByteBuffer frame = seal.open(read(length));
    int got = Byte.toUnsignedInt(frame.get());
    if (got != type) {
      throw new AssertionError("expected a frame of type " + type + ", got " + got);
    }
    return frame;
  }

  /** Waits until the other side has hung up; what it still says is thrown away. */
  void awaitEnd() {
    ByteBuffer away = ByteBuffer.allocate(4096);
    try {
      while (channel.read(away.clear()) >= 0) {
        // It still says something.
      }
    } catch (IOException e) {
      // Reset: it has hung up with bytes of ours unread.
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
