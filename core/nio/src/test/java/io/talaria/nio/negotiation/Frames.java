// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.process.Host;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;

/** Frames of a session, right ones and others, for tests that play the other side. */
public final class Frames {
  private static final int CONNECTIONS = 9;

  private Frames() {}

  /** Makes the payload of a HELLO. */
  @FunctionalInterface
  public interface Region {
    /** Makes one. */
    ByteBuffer make() throws IOException;
  }

  /** An offer that has been received. */
  public record Offer(int id, ByteBuffer payload) {}

  /** The handshake of a process of this host. */
  public static ByteBuffer hello(ByteBuffer region) {
    return Wire.hello(RawSession.hello("shm", region));
  }

  /** The handshake's answer. */
  public static ByteBuffer welcome() {
    return RawSession.welcome(Host.pid());
  }

  /** An offer for a connection. */
  public static ByteBuffer offer(
      int id, InetSocketAddress client, InetSocketAddress server, ByteBuffer payload) {
    return Wire.offer(id, new ConnectionKey(client, server), null, payload);
  }

  /** Takes an offer apart; null if the frame is none. */
  public static Offer offer(Frame frame) throws IOException {
    if (frame == null || frame.type() != Wire.OFFER) {
      return null;
    }
    try {
      int id = Wire.id(frame.body());
      ConnectionKey.decode(frame.body());
      Wire.proof(frame.body());
      return new Offer(id, Wire.payload(frame.body()));
    } catch (MalformedFrameException e) {
      throw new IOException(e);
    }
  }

  /** Whether a frame answers an offer, and not by a refusal. */
  public static boolean answers(Frame frame, int id) {
    return frame.type() == Wire.ANSWER && frame.body().getInt(frame.body().position()) == id;
  }

  /** Whether a frame refuses an offer. */
  public static boolean refuses(Frame frame, int id) {
    return frame.type() == Wire.REFUSE && frame.body().getInt(frame.body().position()) == id;
  }

  /** Whether a frame is a handshake. */
  public static boolean greets(Frame frame) {
    return frame != null && frame.type() == Wire.HELLO;
  }

  /** What the transport put into a handshake. */
  public static ByteBuffer region(Frame handshake) throws IOException {
    try {
      return Wire.hello(handshake.body()).payload();
    } catch (MalformedFrameException e) {
      throw new IOException(e);
    }
  }

  /** Whether a frame says welcome. */
  public static boolean welcomes(Frame frame) {
    return frame != null && frame.type() == Wire.WELCOME;
  }

  /** An answer to an offer. */
  public static ByteBuffer answer(int id) {
    return Wire.answer(id, ByteBuffer.allocate(0));
  }

  /** A message of the transport. */
  public static ByteBuffer transport(ByteBuffer message) {
    return Wire.transport(message);
  }

  /** Whether a frame is the transport's. */
  public static boolean ofTransport(Frame frame) {
    return frame != null && frame.type() == Wire.TRANSPORT;
  }

  /** Frames that are right, more or less, about a port. */
  public static ByteBuffer any(Random random, int port, Region region) throws IOException {
    ByteBuffer payload = random.nextBoolean() ? noise(random, 1024) : noise(random, 20);
    int id = random.nextInt(4);
    return switch (random.nextInt(11)) {
      case 0 -> Wire.hello(RawSession.hello("shm", region.make()));
      case 1 -> RawSession.welcome(random.nextLong());
      case 2 -> Wire.reject(Reason.BUSY);
      case 3, 4, 5 ->
          Wire.offer(id, FakeChannel.key(1 + random.nextInt(CONNECTIONS), port), null, payload);
      case 6 -> Wire.answer(id, payload);
      case 7 -> Wire.refuse(id, Reason.BUSY);
      case 8 -> Wire.withdraw(id);
      case 9 ->
          random.nextBoolean()
              ? Wire.probeAt(id, port)
              : Wire.probe(id, FakeChannel.key(1, port), Nonce.random());
      default -> Wire.transport(payload);
    };
  }

  /** A copy with a byte changed, cut short, of a wrong length, or as it was. */
  public static ByteBuffer damaged(Random random, ByteBuffer frame) {
    ByteBuffer copy = ByteBuffer.allocate(frame.remaining()).put(frame.duplicate()).flip();
    switch (random.nextInt(5)) {
      case 0 -> copy.put(random.nextInt(copy.limit()), (byte) random.nextInt());
      case 1 -> copy.limit(random.nextInt(copy.limit() + 1));
      case 2 -> copy.putShort(0, (short) random.nextInt());
      default -> {
        // As it is.
      }
    }
    return copy;
  }

  /** Random bytes. */
  public static ByteBuffer noise(Random random, int most) {
    byte[] bytes = new byte[random.nextInt(most + 1)];
    random.nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }
}
