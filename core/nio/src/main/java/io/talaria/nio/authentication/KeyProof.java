// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.authentication;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The proof that a side of a handshake has the key, the same for all protocols of Talaria. Each
 * protocol has its own messages, in which it carries two nonces and the proofs.
 *
 * <pre>
 *   proof       HMAC-SHA256(key, protocol ": " label 0 transcript)
 *   label       "caller's proof" or "answerer's proof"
 *   transcript  version:2 nonce of the caller:32 nonce of the answerer:32 context
 *   secret      the same with a label of its own, for keys of the session
 *   addresses   of the caller, of the answerer: length:1 IP address:4 or 16 port:2 each
 * </pre>
 *
 * <p>Big-endian. The name of the protocol has no colon, and neither it nor a label has a zero byte,
 * so that two different inputs never give the same bytes. The context is what else the protocol
 * binds: the {@link #addresses} of the connection, or frames. It is the last part, so it needs no
 * length, but the protocol must be able to parse it unambiguously. This class depends on the JDK
 * only, so that other modules may embed it.
 */
public final class KeyProof {
  public static final int NONCE_BYTES = 32;
  public static final int PROOF_BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String protocol;
  private final int version;
  private final byte[] key;
  private final byte[] callerNonce;
  private final byte[] answererNonce;

  /**
   * Proofs of one handshake.
   *
   * @param protocol its name, which no other protocol has
   * @param version of the protocol
   * @param key what both sides have
   * @param callerNonce fresh, of the side that has connected
   * @param answererNonce fresh, of the other side
   */
  public KeyProof(
      String protocol, int version, byte[] key, byte[] callerNonce, byte[] answererNonce) {
    requireText(protocol);
    if (protocol.indexOf(':') >= 0) {
      throw new IllegalArgumentException("a colon in the name of a protocol: " + protocol);
    }
    if (version != (version & 0xffff)) {
      throw new IllegalArgumentException("version " + version);
    }
    if (callerNonce.length != NONCE_BYTES || answererNonce.length != NONCE_BYTES) {
      throw new IllegalArgumentException(
          "nonces of " + callerNonce.length + " and " + answererNonce.length + " bytes");
    }
    this.protocol = protocol;
    this.version = version;
    this.key = key.clone();
    this.callerNonce = callerNonce.clone();
    this.answererNonce = answererNonce.clone();
  }

  /** A fresh nonce. */
  public static byte[] nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  /** The addresses of a connection as a context, or as a part of one. */
  public static byte[] addresses(InetSocketAddress caller, InetSocketAddress answerer) {
    byte[] a = caller.getAddress().getAddress();
    byte[] b = answerer.getAddress().getAddress();
    ByteBuffer both = ByteBuffer.allocate(a.length + b.length + 6);
    both.put((byte) a.length).put(a).putShort((short) caller.getPort());
    both.put((byte) b.length).put(b).putShort((short) answerer.getPort());
    return both.array();
  }

  /**
   * The proof of a side.
   *
   * @param caller whether it is the caller's
   * @param context parts, which follow one another
   */
  public byte[] proof(boolean caller, byte[]... context) {
    return secret(label(caller), context);
  }

  /** Whether these bytes are the proof of a side; compared in constant time. */
  public boolean isProof(byte[] proof, boolean caller, byte[]... context) {
    return MessageDigest.isEqual(proof, proof(caller, context));
  }

  private static String label(boolean caller) {
    return caller ? "caller's proof" : "answerer's proof";
  }

  /** 32 bytes that only who has the key knows; another label gives others. */
  public byte[] secret(String label, byte[]... context) {
    requireText(label);
    Mac mac = mac(key);
    mac.update((protocol + ": " + label).getBytes(StandardCharsets.US_ASCII));
    mac.update((byte) 0);
    mac.update((byte) (version >> Byte.SIZE));
    mac.update((byte) version);
    mac.update(callerNonce);
    mac.update(answererNonce);
    for (byte[] part : context) {
      mac.update(part);
    }
    return mac.doFinal();
  }

  private static void requireText(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
        throw new IllegalArgumentException("not printable ASCII: " + text);
      }
    }
  }

  static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no " + ALGORITHM, e); // each must have it
    }
  }
}
