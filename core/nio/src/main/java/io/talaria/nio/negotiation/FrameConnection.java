// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;

/**
 * The connection of a {@link Session}: cuts what comes into frames, seals and opens them where a
 * {@link SessionLink} says how, and keeps what the peer does not take yet. It knows of frames that
 * they have a type, and nothing of what they mean. Owned and closed by the session. Negotiation
 * thread.
 */
final class FrameConnection {
  /** The session should send no more of its own while more waits to be sent. */
  private static final int HIGH_WATER_BYTES = 1 << 20;

  /** A peer that lets so much wait does not read: room for an answer to every pending offer. */
  private static final int MAX_QUEUED_BYTES = 4 << 20;

  /**
   * While more answers wait, no offer is read: a peer that does not read them must not fill our
   * memory.
   */
  private static final int MAX_WAITING_ANSWERS = 1000;

  /** So many frames are sent together: each call of the system may wake the peer. */
  private static final int TOGETHER = 16;

  /** Whose connection it is. */
  interface User {
    /** A frame has come; whatever this throws, {@link #read} throws. */
    void received(int type, ByteBuffer body) throws MalformedFrameException, TransportException;

    /** Whether it has something to send that it keeps back until there is room. */
    boolean keepsBack();

    /** The peer does not read: what waited is forgotten, and nothing can follow. */
    void unread();
  }

  private final SocketChannel channel;

  /** Null on one host. */
  private final SessionLink link;

  /** Whether this side is the one that offers. */
  private final boolean offers;

  private final User user;
  private final NegotiationLoop loop;
  private final ByteBuffer input =
      ByteBuffer.allocate(2 * (Wire.LENGTH_BYTES + Wire.MAX_FRAME_BYTES));
  private final ArrayDeque<ByteBuffer> output = new ArrayDeque<>();

  /** The first of those, while they are sent. */
  private final ByteBuffer[] together = new ByteBuffer[TOGETHER];

  /** How many frames have come since it was last promised to send them. */
  private int unsent;

  private SelectionKey key;
  private long queuedBytes;
  private boolean closed;

  /**
   * Makes a connection.
   *
   * @param loop whose thread uses it
   * @param channel its own from now on
   */
  FrameConnection(
      NegotiationLoop loop, SocketChannel channel, SessionLink link, boolean offers, User user) {
    this.loop = loop;
    this.channel = channel;
    this.link = link;
    this.offers = offers;
    this.user = user;
  }

  /** Has the selector tell when there is something to {@link #read} or room to {@link #flush}. */
  void register(Selector selector, NegotiationLoop.Ready told) throws IOException {
    channel.configureBlocking(false);
    key = channel.register(selector, SelectionKey.OP_READ, told);
  }

  boolean readable() {
    return key.isValid() && key.isReadable();
  }

  boolean writable() {
    return key.isValid() && key.isWritable();
  }

  // ---- reading

  /**
   * Reads once and hands over the frames that are complete, until it is closed.
   *
   * @return false at the end of the stream
   * @throws IOException if the connection has failed
   */
  boolean read() throws IOException, MalformedFrameException, TransportException {
    int n = channel.read(input);
    input.flip();
    while (!closed && input.remaining() >= Wire.LENGTH_BYTES) {
      int length = Short.toUnsignedInt(input.getShort(input.position()));
      if (length < 1 || length > Wire.MAX_FRAME_BYTES + (link == null ? 0 : link.sealBytes())) {
        throw new MalformedFrameException("a frame of " + length + " bytes");
      }
      if (input.remaining() < Wire.LENGTH_BYTES + length) {
        break;
      }
      ByteBuffer frame = input.slice(input.position() + Wire.LENGTH_BYTES, length);
      input.position(input.position() + Wire.LENGTH_BYTES + length);
      if (link != null) {
        frame = link.open(frame);
      }
      user.received(Byte.toUnsignedInt(frame.get()), frame);
    }
    input.compact();
    return n >= 0;
  }

  // ---- writing

  /** Whether so much waits that the session should keep back what it need not send now. */
  boolean congested() {
    return queuedBytes > HIGH_WATER_BYTES;
  }

  /**
   * Sends a frame, together with others that come in a moment, or when the peer takes it; does
   * nothing once it is closed.
   */
  void send(ByteBuffer message) {
    if (closed) {
      return;
    }
    ByteBuffer frame = link == null ? message : link.seal(message);
    output.add(frame);
    queuedBytes += frame.remaining();
    if (queuedBytes > MAX_QUEUED_BYTES) {
      stopSending();
      user.unread();
      return;
    }
    if (unsent++ == 0) {
      loop.soon(this::sendRest);
    } else if (unsent % TOGETHER == 0) {
      sendNow();
    }
  }

  private void sendRest() {
    unsent = 0;
    if (!closed) {
      sendNow();
    }
  }

  private void sendNow() {
    try {
      flush();
    } catch (IOException e) {
      // The read sees the end and closes; closing here would re-enter.
      stopSending();
    }
  }

  private void stopSending() {
    output.clear();
    queuedBytes = 0;
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_READ);
    }
  }

  /**
   * Sends what the peer takes now.
   *
   * @throws IOException if the connection has failed
   */
  void flush() throws IOException {
    sendAll();
    if (key.isValid()) {
      boolean more = !output.isEmpty() || user.keepsBack();
      // The side that offers always reads, so the two never wait for each other.
      boolean reads = offers || output.size() <= MAX_WAITING_ANSWERS;
      key.interestOps((reads ? SelectionKey.OP_READ : 0) | (more ? SelectionKey.OP_WRITE : 0));
    }
  }

  /** Sends what the peer takes now. */
  private void sendAll() throws IOException {
    boolean taken = true;
    while (taken && !output.isEmpty()) {
      taken = sendSome();
    }
  }

  /** Sends the first frames; false if the peer does not take all of them now. */
  private boolean sendSome() throws IOException {
    int frames = 0;
    for (ByteBuffer frame : output) {
      together[frames++] = frame;
      if (frames == TOGETHER) {
        break;
      }
    }
    queuedBytes -= channel.write(together, 0, frames);
    for (int i = 0; i < frames; i++) {
      if (together[i].hasRemaining()) {
        return false;
      }
      output.poll();
    }
    return true;
  }

  /** Ends it; what the peer does not take at once is lost. Idempotent. */
  void close() {
    if (!closed) {
      closed = true;
      try {
        sendAll(); // why it ends may be among it
      } catch (IOException e) {
        // The peer has ended it before.
      }
    }
    Sessions.closeQuietly(channel);
  }
}
