// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import io.talaria.messaging.wire.EncryptedWire;
import io.talaria.messaging.wire.Wire;
import io.talaria.nio.authentication.Handshake;
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
  private static final int MAX_TRANSCRIPT = 2 * Handshake.NONCE_BYTES + 64;

  private final SocketChannel channel;
  private final boolean dialled;
  private final Deque<ByteBuffer> out = new ArrayDeque<>();
  private Handshake proof;
  private Wire wire;

  /**
   * Non-null until encryption begins. Its secret is derived from this key, the nonces of both ends,
   * collected in {@link #transcript} as they pass, and {@link #addresses}.
   */
  private byte[] encryptionKey;

  private final ByteBuffer transcript = ByteBuffer.allocate(MAX_TRANSCRIPT);
  private byte[] addresses;

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
      addresses = dialled ? addresses(local, remote) : addresses(remote, local);
      proof = new Handshake(dialled, key, addresses);
      ByteBuffer first = proof.first();
      if (encrypted) {
        encryptionKey = key.clone();
        nonce(first, Handshake.START_BYTES, dialled);
      }
      out.add(first);
    }
  }

  private static byte[] addresses(InetSocketAddress caller, InetSocketAddress answerer) {
    byte[] a = caller.getAddress().getAddress();
    byte[] b = answerer.getAddress().getAddress();
    ByteBuffer both = ByteBuffer.allocate(a.length + b.length + 4);
    both.put(a).putShort((short) caller.getPort());
    both.put(b).putShort((short) answerer.getPort());
    return both.array();
  }

  /** Appends a nonce of the proof to the transcript: first the caller's, then the answerer's. */
  private void nonce(ByteBuffer message, int at, boolean of) {
    if (of && message.remaining() >= at + Handshake.NONCE_BYTES) {
      transcript.put(message.slice(message.position() + at, Handshake.NONCE_BYTES));
    }
  }

  private void encrypt() {
    transcript.put(addresses);
    byte[] all = Arrays.copyOf(transcript.array(), transcript.position());
    wire = new EncryptedWire(channel, EncryptedWire.secret(encryptionKey, dialled, all), in.flip());
    in.clear();
    encryptionKey = null;
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
        int before = proof.wantedBytes();
        ByteBuffer answer = proof.received(message.duplicate());
        if (encryptionKey != null) {
          // The other side's nonce is in its CALL, or in the rest of its REPLY.
          nonce(message, Handshake.START_BYTES, before == Handshake.CALL_BYTES);
          nonce(message, 0, before == Handshake.NONCE_BYTES + Handshake.PROOF_BYTES);
          nonce(answer, Handshake.START_BYTES, before == Handshake.CALL_BYTES);
        }
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
    if (encryptionKey != null) {
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
