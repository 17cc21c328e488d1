// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import io.talaria.nio.authentication.KeyProof;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * How two ranks meet on a fresh connection, before any frame: four messages of fixed lengths, big
 * endian, by which each proves to the other that it has the job's secret.
 *
 * <pre>
 *  HELLO      connector  magic:8 | version:4 | from:4 | to:4 | flags:4 | nonce:32
 *  CHALLENGE  acceptor   magic:8 | version:4 | flags:4 | nonce:32
 *  PROOF      connector  proof:32, the context is HELLO, CHALLENGE, addresses
 *  VERDICT    acceptor   code:4 | proof:32, the context is HELLO, CHALLENGE, addresses, code:4
 * </pre>
 *
 * <p>The proofs are those of {@link KeyProof}: the connector is the caller, the acceptor the
 * answerer, and the addresses are those of the connection as each side sees them. {@code flags} is
 * 1 where memory is little endian. The acceptor proves nothing to who has not proved itself. Both
 * sides give up after {@link #LIMIT_NS}. The channel is non-blocking, and threads here look every
 * few microseconds to milliseconds.
 */
final class Handshake {
  static final int VERSION = 2;

  static final String PROTOCOL = "Talaria MPJ";

  /** The connection is the one for this pair. */
  static final int WELCOME = 0;

  /** Both have connected at once, and the other connection is the one. */
  static final int CROSSED = 1;

  /** The rank that was reached is not the one that was looked for. */
  static final int OTHER_RANK = 2;

  static final long LIMIT_NS = 10_000_000_000L;

  private static final long MAGIC = 0x54616c4d504a6e31L; // "TalMPJn1"
  private static final int HELLO_BYTES = 56;
  private static final int CHALLENGE_BYTES = 48;
  private static final int HELLO_NONCE_AT = 24;
  private static final int CHALLENGE_NONCE_AT = 16;
  private static final int FLAGS = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 0;
  private static final String NO_PROOF =
      "it has not the secret of this job, or addresses are translated on the way";

  /** Somebody who is not of this job, or not of this version of it. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
      super(message);
    }
  }

  private final SocketChannel channel;
  private final byte[] secret;
  private final long deadline = System.nanoTime() + LIMIT_NS;
  private ByteBuffer hello;
  private ByteBuffer challenge;
  private byte[] addresses;

  Handshake(SocketChannel channel, byte[] secret) {
    this.channel = channel;
    this.secret = secret;
  }

  /**
   * The connector's side.
   *
   * @return the acceptor's verdict
   */
  int connect(int from, int to) throws IOException {
    addresses = KeyProof.addresses(local(), remote());
    hello = ByteBuffer.allocate(HELLO_BYTES).putLong(MAGIC).putInt(VERSION);
    hello.putInt(from).putInt(to).putInt(FLAGS).put(KeyProof.nonce()).flip();
    write(hello);
    challenge = read(CHALLENGE_BYTES);
    check(challenge.getLong(0), challenge.getInt(8), challenge.getInt(12));
    write(ByteBuffer.wrap(keyProof().proof(true, context())));
    ByteBuffer verdict = read(4 + KeyProof.PROOF_BYTES);
    int code = verdict.getInt(0);
    byte[] proof = new byte[KeyProof.PROOF_BYTES];
    verdict.get(4, proof);
    if (!keyProof().isProof(proof, false, context(), word(code))) {
      throw new RefusedException(NO_PROOF);
    }
    return code;
  }

  /**
   * The acceptor's side, first half: the other one is of this job.
   *
   * @return rank of the connector
   */
  int accept(int size) throws IOException {
    addresses = KeyProof.addresses(remote(), local());
    hello = read(HELLO_BYTES);
    challenge = ByteBuffer.allocate(CHALLENGE_BYTES);
    challenge.putLong(MAGIC).putInt(VERSION).putInt(FLAGS).put(KeyProof.nonce()).flip();
    if (hello.getLong(0) == MAGIC) {
      // Also of another version, so that the other side can say so.
      write(challenge);
    }
    check(hello.getLong(0), hello.getInt(8), hello.getInt(20));
    byte[] proof = read(KeyProof.PROOF_BYTES).array();
    if (!keyProof().isProof(proof, true, context())) {
      throw new RefusedException(NO_PROOF);
    }
    int from = hello.getInt(12);
    if (from < 0 || from >= size) {
      throw new RefusedException("it says that it is rank " + from + " of " + size);
    }
    return from;
  }

  /** Whom the connector looks for. */
  int wanted() {
    return hello.getInt(16);
  }

  /** The acceptor's side, second half. */
  void answer(int code) throws IOException {
    ByteBuffer verdict = ByteBuffer.allocate(4 + KeyProof.PROOF_BYTES);
    verdict.putInt(code).put(keyProof().proof(false, context(), word(code))).flip();
    write(verdict);
  }

  private static void check(long magic, int version, int flags) throws RefusedException {
    if (magic != MAGIC) {
      throw new RefusedException("what it sent is not of a rank");
    }
    if (version != VERSION) {
      throw new RefusedException("it speaks version " + version + ", this rank " + VERSION);
    }
    if (flags != FLAGS) {
      throw new RefusedException("its memory is of another byte order");
    }
  }

  private InetSocketAddress local() throws IOException {
    return (InetSocketAddress) channel.getLocalAddress();
  }

  private InetSocketAddress remote() throws IOException {
    return (InetSocketAddress) channel.getRemoteAddress();
  }

  private KeyProof keyProof() {
    return new KeyProof(
        PROTOCOL,
        VERSION,
        secret,
        Arrays.copyOfRange(hello.array(), HELLO_NONCE_AT, HELLO_BYTES),
        Arrays.copyOfRange(challenge.array(), CHALLENGE_NONCE_AT, CHALLENGE_BYTES));
  }

  /** HELLO and CHALLENGE have fixed lengths. */
  private byte[] context() {
    return ByteBuffer.allocate(HELLO_BYTES + CHALLENGE_BYTES + addresses.length)
        .put(hello.array())
        .put(challenge.array())
        .put(addresses)
        .array();
  }

  private static byte[] word(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  private ByteBuffer read(int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    long pause = 20_000;
    while (buffer.hasRemaining()) {
      int n = channel.read(buffer);
      if (n < 0) {
        throw new IOException(
            "it has closed the connection: has it the secret of this job, and sees these addresses?");
      }
      pause = n > 0 ? 20_000 : rest(pause);
    }
    return buffer.flip();
  }

  private void write(ByteBuffer buffer) throws IOException {
    long pause = 20_000;
    while (buffer.hasRemaining()) {
      pause = channel.write(buffer) > 0 ? 20_000 : rest(pause);
    }
  }

  private long rest(long pause) throws IOException {
    if (System.nanoTime() - deadline > 0) {
      throw new IOException("it has not answered within " + LIMIT_NS / 1_000_000_000 + " s");
    }
    LockSupport.parkNanos(pause);
    return Math.min(pause * 2, 2_000_000);
  }
}
