// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.wire;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.function.Function;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts and authenticates a session, so that an attacker on the network cannot read, change,
 * repeat, omit or cut off bytes unnoticed. Uses AES-256 in Galois/counter mode, with a key for each
 * direction and session.
 *
 * <pre>
 *   frame    length 4 (of the ciphertext, little-endian) | ciphertext 1 to 65,536 | tag 16
 *   nonce    0 4 | number of the frame 8, big-endian, from 0; the length is authenticated with it
 *   key      as the proof of the key, with the label "caller's stream" or "answerer's stream"
 * </pre>
 */
public final class EncryptedWire extends Wire {
  /** The maximum plain bytes in a frame. */
  static final int MAX_BYTES = 64 << 10;

  static final int HEADER_BYTES = 4;
  static final int TAG_BYTES = 16;

  private static final int NONCE_BYTES = 12;

  /** The cipher of one direction. */
  private static final class Direction {
    final Cipher cipher;
    final SecretKeySpec key;
    private final ByteBuffer nonce = ByteBuffer.allocate(NONCE_BYTES);
    private final ByteBuffer length =
        ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long number;

    Direction(byte[] secret) throws GeneralSecurityException {
      cipher = Cipher.getInstance("AES/GCM/NoPadding");
      key = new SecretKeySpec(secret, "AES");
    }

    /** Prepares the cipher for the next frame. */
    void next(int mode, int bytes) throws GeneralSecurityException {
      nonce.putLong(Integer.BYTES, number++);
      cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce.array()));
      cipher.updateAAD(length.putInt(0, bytes).array());
    }
  }

  private final Direction out;
  private final Direction in;

  /** Encrypted and not sent yet. Only for the thread that writes. */
  private final ByteBuffer going =
      ByteBuffer.allocateDirect(HEADER_BYTES + MAX_BYTES + TAG_BYTES)
          .order(ByteOrder.LITTLE_ENDIAN)
          .flip();

  private volatile boolean pending;
  private final ByteBuffer gathered = ByteBuffer.allocateDirect(MAX_BYTES);

  /**
   * Received and not decrypted yet. Like {@link #opened}, decrypted and not returned yet, only for
   * the thread that reads.
   */
  private ByteBuffer came =
      ByteBuffer.allocateDirect(2 * (HEADER_BYTES + MAX_BYTES + TAG_BYTES))
          .order(ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer opened = ByteBuffer.allocateDirect(MAX_BYTES + TAG_BYTES).flip();
  private boolean ended;

  /**
   * Creates the wire of a session.
   *
   * @param channel connected, non-blocking; its owner closes it
   * @param secret known only to both ends of this session: 32 bytes for the output, then 32 bytes
   *     for the input
   * @param first what was already read from the channel
   */
  public EncryptedWire(SocketChannel channel, byte[] secret, ByteBuffer first) {
    super(channel);
    try {
      out = new Direction(Arrays.copyOfRange(secret, 0, 32));
      in = new Direction(Arrays.copyOfRange(secret, 32, 64));
    } catch (GeneralSecurityException e) {
      // every Java must have it
      throw new IllegalStateException("this Java has no AES/GCM/NoPadding", e);
    }
    if (first.remaining() > came.capacity()) {
      came = ByteBuffer.allocateDirect(2 * first.remaining()).order(ByteOrder.LITTLE_ENDIAN);
    }
    came.put(first);
  }

  /**
   * Derives the secret of a session.
   *
   * @param keys the session's key for a label, the same at both ends
   * @param caller whether this end has connected
   */
  public static byte[] secret(Function<String, byte[]> keys, boolean caller) {
    byte[] callers = keys.apply("caller's stream");
    byte[] answerers = keys.apply("answerer's stream");
    byte[] secret = Arrays.copyOf(caller ? callers : answerers, 64);
    System.arraycopy(caller ? answerers : callers, 0, secret, 32, 32);
    return secret;
  }

  @Override
  public ByteBuffer encrypted(ByteBuffer frame) {
    int frames = (frame.remaining() + MAX_BYTES - 1) / MAX_BYTES;
    ByteBuffer all =
        ByteBuffer.allocate(frame.remaining() + frames * (HEADER_BYTES + TAG_BYTES))
            .order(ByteOrder.LITTLE_ENDIAN);
    while (frame.hasRemaining()) {
      int bytes = Math.min(MAX_BYTES, frame.remaining());
      encrypt(frame.slice(frame.position(), bytes), all);
      frame.position(frame.position() + bytes);
    }
    return all.flip();
  }

  private void encrypt(ByteBuffer plain, ByteBuffer to) {
    try {
      int bytes = plain.remaining();
      to.putInt(bytes);
      out.next(Cipher.ENCRYPT_MODE, bytes);
      out.cipher.doFinal(plain, to);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a frame cannot be encrypted", e);
    }
  }

  @Override
  public boolean pending() {
    return pending;
  }

  @Override
  public boolean flush() throws IOException {
    while (going.hasRemaining()) {
      if (channel.write(going) == 0) {
        return false;
      }
    }
    pending = false;
    return true;
  }

  @Override
  public long write(ByteBuffer[] from) throws IOException {
    long wrote = 0;
    while (flush()) {
      gathered.clear();
      for (ByteBuffer each : from) {
        int bytes = Math.min(gathered.remaining(), each.remaining());
        gathered.put(each.slice(each.position(), bytes));
        each.position(each.position() + bytes);
      }
      if (gathered.flip().remaining() == 0) {
        return wrote;
      }
      wrote += gathered.remaining();
      going.clear();
      encrypt(gathered, going);
      going.flip();
      pending = true;
    }
    return wrote;
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    int got = 0;
    while (to.hasRemaining()) {
      if (opened.hasRemaining()) {
        int bytes = Math.min(to.remaining(), opened.remaining());
        to.put(opened.slice(opened.position(), bytes));
        opened.position(opened.position() + bytes);
        got += bytes;
      } else if (!open() && !more()) {
        return got == 0 && ended ? -1 : got;
      }
    }
    return got;
  }

  /** Reads from the channel; whether anything has arrived. */
  private boolean more() throws IOException {
    if (ended) {
      return false;
    }
    int bytes = channel.read(came);
    if (bytes < 0) {
      if (came.position() != 0) {
        throw new EOFException("an encrypted session was cut off in mid-frame");
      }
      ended = true;
    }
    return bytes > 0;
  }

  /** Decrypts the next frame; false if it has not arrived completely. */
  private boolean open() throws ProtocolException {
    if (came.position() < HEADER_BYTES) {
      return false;
    }
    int bytes = came.getInt(0);
    if (bytes < 1 || bytes > MAX_BYTES) {
      throw new ProtocolException(
          "an encrypted frame of " + bytes + " bytes: does the other side encrypt, too?");
    }
    int end = HEADER_BYTES + bytes + TAG_BYTES;
    if (came.position() < end) {
      return false;
    }
    try {
      in.next(Cipher.DECRYPT_MODE, bytes);
      opened.clear();
      in.cipher.doFinal(came.slice(HEADER_BYTES, bytes + TAG_BYTES), opened);
      opened.flip();
    } catch (GeneralSecurityException e) {
      opened.clear().flip();
      throw new ProtocolException(
          "an encrypted frame is not what the other side has sent next: " + e.getMessage());
    }
    came.flip().position(end);
    came.compact();
    return true;
  }
}
