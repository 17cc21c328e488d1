// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import io.talaria.messaging.wire.EncryptedWire;
import io.talaria.messaging.wire.Wire;
import io.talaria.nio.authentication.Handshake;
import io.talaria.nio.authentication.KeyProof;
import io.talaria.nio.transport.TransportException;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Sends and receives the bytes of one handshake: the proof of the key if there is one, then frames.
 * Never blocks. For the conductor's thread.
 */
public final class NodeHandshake {
  private static final int FIRST_BYTES = 4096;

  /** The proof's messages are those between hosts, where the version is 1. */
  private static final String PROTOCOL = "Talaria messages";

  private static final int VERSION = 2;

  private final SocketChannel channel;
  private final boolean dialled;
  private final Deque<ByteBuffer> out = new ArrayDeque<>();
  private Handshake proof;
  private Wire wire;

  /** Whether to encrypt everything after the proof, until encryption begins. */
  private boolean encrypted;

  private ByteBuffer in = ByteBuffer.allocate(FIRST_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  /**
   * Starts a handshake.
   *
   * @param channel connected, non-blocking
   * @param dialled whether this node has connected
   * @param key of both sides, or null if no proof is required
   * @param encrypted whether to encrypt everything after the proof; needs a key
   */
  public NodeHandshake(SocketChannel channel, boolean dialled, byte[] key, boolean encrypted)
      throws IOException {
    this.channel = channel;
    this.dialled = dialled;
    wire = new Wire(channel);
    if (key != null) {
      InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
      InetSocketAddress remote = (InetSocketAddress) channel.getRemoteAddress();
      byte[] addresses =
          dialled ? KeyProof.addresses(local, remote) : KeyProof.addresses(remote, local);
      proof = new Handshake(PROTOCOL, VERSION, dialled, key, addresses);
      out.add(proof.first());
      this.encrypted = encrypted;
    }
  }

  private void encrypt() {
    wire = new EncryptedWire(channel, EncryptedWire.secret(proof::secret, dialled), in.flip());
    in.clear();
    encrypted = false;
  }

  /** The wire for the bytes after the handshake. */
  public Wire wire() {
    return wire;
  }

  /** The channel of this handshake. */
  public SocketChannel channel() {
    return channel;
  }

  /** Whether this node has connected, and not the other one. */
  public boolean dialled() {
    return dialled;
  }

  /** Whether the other side has proved that it has the key, or no proof is required. */
  public boolean proved() {
    return proof == null || proof.done();
  }

  /** Queues a frame; {@link #flush} sends it. */
  public void send(ByteBuffer frame) {
    out.add(wire.encrypted(frame));
  }

  /** Sends as much as the channel accepts; true if everything was sent. */
  public boolean flush() throws IOException {
    for (ByteBuffer next = out.peek(); next != null; next = out.peek()) {
      channel.write(next);
      if (next.hasRemaining()) {
        return false;
      }
      out.remove();
    }
    return true;
  }

  /** Reads what has arrived; false if nothing has. */
  public boolean fill() throws IOException {
    if (!in.hasRemaining()) {
      if (in.capacity() >= HandshakeMessage.MAX_BYTES + 5) {
        return false;
      }
      ByteBuffer larger =
          ByteBuffer.allocate(Math.min(in.capacity() * 4, HandshakeMessage.MAX_BYTES + 5))
              .order(ByteOrder.LITTLE_ENDIAN);
      in = larger.put(in.flip());
    }
    int got = wire.read(in);
    if (got < 0) {
      throw new EOFException("the other side has closed the connection");
    }
    return got > 0;
  }

  /**
   * Continues the proof.
   *
   * @return whether the proof is complete
   * @throws IOException if the other side has another key
   */
  public boolean prove() throws IOException {
    while (proof != null && !proof.done()) {
      int wanted = proof.wantedBytes();
      if (in.position() < wanted) {
        return false;
      }
      in.flip();
      ByteBuffer message = ByteBuffer.wrap(Arrays.copyOfRange(in.array(), 0, wanted));
      in.position(wanted);
      in.compact();
      try {
        ByteBuffer answer = proof.received(message);
        if (answer.hasRemaining()) {
          out.add(answer);
        }
      } catch (TransportException e) {
        if (proof.last().hasRemaining()) {
          out.add(proof.last());
        }
        flush();
        throw new ProtocolException(e.getMessage());
      }
    }
    if (encrypted) {
      encrypt();
    }
    return true;
  }

  /**
   * Removes the next frame and returns it from its kind on; null if it has not arrived completely.
   */
  public ByteBuffer frame() throws ProtocolException {
    if (in.position() < Integer.BYTES) {
      return null;
    }
    int length = in.getInt(0);
    if (length < 1 || length > HandshakeMessage.MAX_BYTES) {
      throw new ProtocolException("a frame of " + length + " bytes");
    }
    if (in.position() < Integer.BYTES + length) {
      return null;
    }
    byte[] frame = Arrays.copyOfRange(in.array(), Integer.BYTES, Integer.BYTES + length);
    in.flip().position(Integer.BYTES + length);
    in.compact();
    return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The bytes that have arrived after the last frame. */
  public ByteBuffer rest() {
    return in.flip();
  }
}
