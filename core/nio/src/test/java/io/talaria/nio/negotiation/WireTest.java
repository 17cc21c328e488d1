// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.negotiation.Wire.Welcome;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The frames of a session: what is written is what is read, and nothing else is. */
@Timeout(60)
class WireTest {

  /** Reads a body as the session does for its type. */
  private static Object decode(int type, ByteBuffer body) throws MalformedFrameException {
    return switch (type) {
      case Wire.HELLO -> Wire.hello(body);
      case Wire.WELCOME -> Wire.welcome(body);
      case Wire.REJECT -> Wire.reason(body);
      case Wire.OFFER ->
          Arrays.asList(
              Wire.id(body),
              ConnectionKey.decode(body),
              Wire.proof(body),
              Wire.atEnd(body, Wire.payload(body)));
      case Wire.PROBE -> List.of(Wire.id(body), ConnectionKey.decode(body), Wire.nonce(body));
      case Wire.PROBE_AT -> List.of(Wire.id(body), Wire.atEnd(body, Wire.unsignedShort(body)));
      case Wire.ANSWER -> List.of(Wire.id(body), Wire.atEnd(body, Wire.payload(body)));
      case Wire.REFUSE -> List.of(Wire.id(body), Wire.reason(body));
      case Wire.WITHDRAW -> Wire.atEnd(body, Wire.id(body));
      default -> body.slice();
    };
  }

  /** Takes the type and body out of a whole frame, and checks its length. */
  private static ByteBuffer open(ByteBuffer frame, int type) {
    assertThat(frame.getShort()).isEqualTo((short) frame.remaining());
    assertThat(frame.remaining()).isLessThanOrEqualTo(Wire.MAX_FRAME_BYTES);
    assertThat(frame.get()).isEqualTo((byte) type);
    return frame.slice();
  }

  private static ByteBuffer bytes(Random random, int most) {
    byte[] bytes = new byte[random.nextInt(most + 1)];
    random.nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  private static InetSocketAddress address(Random random, boolean six) throws Exception {
    byte[] ip = new byte[six ? 16 : 4];
    random.nextBytes(ip);
    return new InetSocketAddress(InetAddress.getByAddress(ip), random.nextInt(65536));
  }

  private static ConnectionKey key(Random random) throws Exception {
    return new ConnectionKey(
        address(random, random.nextBoolean()), address(random, random.nextBoolean()));
  }

  private static Hello hello(Random random) {
    return new Hello(
        Wire.VERSION,
        random.nextLong(),
        "boot".repeat(random.nextInt(10)),
        "net:[" + random.nextInt() + "]",
        random.nextBoolean(),
        "shm",
        bytes(random, 1024));
  }

  private static Nonce nonce(Random random) {
    return new Nonce(random.nextLong(), random.nextLong());
  }

  private static SegmentProof proof(Random random) {
    return random.nextBoolean()
        ? null
        : new SegmentProof(
            random.nextInt(),
            nonce(random),
            new SegmentEnd(random.nextLong(), random.nextLong()),
            random.nextInt(256));
  }

  /** One frame of each type, in the order of the types. */
  private static List<ByteBuffer> frames(Random random) throws Exception {
    Reason[] reasons = Reason.values();
    Reason reason = reasons[random.nextInt(reasons.length)];
    return List.of(
        Wire.hello(hello(random)),
        Wire.welcome(new Welcome(random.nextLong(), random.nextBoolean())),
        Wire.reject(reason),
        Wire.offer(random.nextInt(), key(random), proof(random), bytes(random, 1024)),
        Wire.answer(random.nextInt(), bytes(random, 1024)),
        Wire.refuse(random.nextInt(), reason),
        Wire.withdraw(random.nextInt()),
        Wire.transport(bytes(random, 1024)),
        Wire.probe(random.nextInt(), key(random), nonce(random)),
        Wire.probeAt(random.nextInt(), random.nextInt(65536)));
  }

  @Test
  void aHelloIsReadAsWritten() throws Exception {
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      Hello hello = hello(random);
      assertThat(Wire.hello(open(Wire.hello(hello), Wire.HELLO))).isEqualTo(hello);
    }
  }

  @Test
  void everyOtherFrameIsReadAsWritten() throws Exception {
    Random random = new Random(2);
    for (int i = 0; i < 1000; i++) {
      int id = random.nextInt();
      ByteBuffer payload = bytes(random, 1024);
      ConnectionKey key = key(random);
      Welcome welcome = new Welcome(i, random.nextBoolean());
      assertThat(decode(Wire.WELCOME, open(Wire.welcome(welcome), Wire.WELCOME)))
          .isEqualTo(welcome);
      SegmentProof proof = proof(random);
      assertThat(decode(Wire.OFFER, open(Wire.offer(id, key, proof, payload), Wire.OFFER)))
          .isEqualTo(Arrays.asList(id, key, proof, payload));
      Nonce nonce = nonce(random);
      assertThat(decode(Wire.PROBE, open(Wire.probe(id, key, nonce), Wire.PROBE)))
          .isEqualTo(List.of(id, key, nonce));
      assertThat(decode(Wire.PROBE_AT, open(Wire.probeAt(id, 65_535), Wire.PROBE_AT)))
          .isEqualTo(List.of(id, 65_535));
      assertThat(decode(Wire.ANSWER, open(Wire.answer(id, payload), Wire.ANSWER)))
          .isEqualTo(List.of(id, payload));
      assertThat(decode(Wire.WITHDRAW, open(Wire.withdraw(id), Wire.WITHDRAW))).isEqualTo(id);
      assertThat(decode(Wire.TRANSPORT, open(Wire.transport(payload), Wire.TRANSPORT)))
          .isEqualTo(payload);
      for (Reason reason : Reason.values()) {
        assertThat(decode(Wire.REFUSE, open(Wire.refuse(id, reason), Wire.REFUSE)))
            .isEqualTo(List.of(id, reason));
        assertThat(decode(Wire.REJECT, open(Wire.reject(reason), Wire.REJECT))).isEqualTo(reason);
      }
      assertThat(payload.position()).as("position of the caller's payload").isZero();
    }
  }

  @Test
  void aReasonOfALaterVersionIsARefusal() throws Exception {
    assertThat(Wire.reason(ByteBuffer.wrap(new byte[] {(byte) 200}))).isEqualTo(Reason.REFUSED);
  }

  @Test
  void theHelloOfAnotherVersionIsKnownByItsVersion() throws Exception {
    ByteBuffer body = ByteBuffer.allocate(40).putLong(Wire.MAGIC).putShort((short) 9).putLong(77);
    Hello hello = Wire.hello(body.clear());
    assertThat(hello.version()).isEqualTo(9);
    assertThat(hello.pid()).isEqualTo(77);
  }

  @Test
  void everyFrameCutShortIsMalformed() throws Exception {
    Random random = new Random(3);
    for (int i = 0; i < 20; i++) {
      int type = 0;
      for (ByteBuffer frame : frames(random)) {
        ByteBuffer body = open(frame, ++type);
        for (int length = 0; type != Wire.TRANSPORT && length < body.limit(); length++) {
          ByteBuffer cut = body.duplicate().limit(length);
          int of = type;
          assertThatThrownBy(() -> decode(of, cut)).isInstanceOf(MalformedFrameException.class);
        }
      }
    }
  }

  @Test
  void everyFrameWithBytesTooManyIsMalformed() throws Exception {
    Random random = new Random(4);
    int type = 0;
    for (ByteBuffer frame : frames(random)) {
      ByteBuffer body = open(frame, ++type);
      ByteBuffer longer = ByteBuffer.allocate(body.remaining() + 1).put(body).clear();
      int of = type;
      if (type != Wire.TRANSPORT) {
        assertThatThrownBy(() -> decode(of, longer))
            .isInstanceOf(MalformedFrameException.class)
            .hasMessage("malformed frame: 1 bytes too many");
      }
    }
  }

  @Test
  void randomAndChangedFramesAreReadOrMalformedAndNothingElse() throws Exception {
    Random random = new Random(5);
    List<ByteBuffer> seeds = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      seeds.addAll(frames(random));
    }
    int read = 0;
    int inputs = 200_000;
    for (int i = 0; i < inputs; i++) {
      int type = 1 + random.nextInt(8);
      ByteBuffer body;
      if (random.nextInt(3) == 0) {
        body = bytes(random, 200);
      } else {
        ByteBuffer seed = seeds.get(8 * random.nextInt(100) + type - 1);
        body = ByteBuffer.allocate(seed.limit() - 3).put(0, seed, 3, seed.limit() - 3);
        for (int n = random.nextInt(4); n > 0 && body.limit() > 0; n--) {
          body.put(random.nextInt(Math.min(body.limit(), 80)), (byte) random.nextInt());
        }
        if (random.nextInt(4) == 0) {
          body.limit(random.nextInt(body.limit() + 1));
        }
      }
      try {
        assertThat(decode(type, body)).isNotNull();
        read++;
      } catch (MalformedFrameException e) {
        assertThat(e).hasMessageStartingWith("malformed frame: ");
      }
    }
    assertThat(read).isBetween(1, inputs - 1);
  }

  @Test
  void stringsAndPayloadsHaveLimits() throws Exception {
    Hello talkative =
        new Hello(Wire.VERSION, 1, "b".repeat(500), "n", false, "shm", ByteBuffer.allocate(1024));
    Hello read = Wire.hello(open(Wire.hello(talkative), Wire.HELLO));
    assertThat(read.bootId()).hasSize(64);

    ByteBuffer body =
        ByteBuffer.allocate(100)
            .putLong(Wire.MAGIC)
            .putShort((short) Wire.VERSION)
            .putLong(1)
            .put((byte) 65)
            .clear();
    assertThatThrownBy(() -> Wire.hello(body)).hasMessage("malformed frame: a string of 65 bytes");
  }

  @Test
  void aKeyHasNoScopeAndOneFormForMappedAddresses() throws Exception {
    InetAddress four = InetAddress.getByName("127.0.0.1");
    byte[] mapped = new byte[16];
    mapped[10] = (byte) 0xff;
    mapped[11] = (byte) 0xff;
    System.arraycopy(four.getAddress(), 0, mapped, 12, 4);
    ByteBuffer encoded =
        ByteBuffer.allocate(ConnectionKey.MAX_BYTES)
            .put((byte) 16)
            .put(mapped)
            .putShort((short) 1)
            .put((byte) 4)
            .put(four.getAddress())
            .putShort((short) 2)
            .flip();
    assertThat(ConnectionKey.decode(encoded)).isEqualTo(FakeChannel.key(1, 2));
    InetSocketAddress far = new InetSocketAddress("fe80::2", 1);
    assertThat(new ConnectionKey(linkLocal(1), far))
        .isEqualTo(new ConnectionKey(linkLocal(2), far));
  }

  private static InetSocketAddress linkLocal(int zone) throws IOException {
    byte[] address = InetAddress.getByName("fe80::1").getAddress();
    return new InetSocketAddress(Inet6Address.getByAddress("", address, zone), 1);
  }

  /** A host may have one link-local address on several interfaces. */
  @Test
  void aKeyOfALinkLocalAddressAndItselfHasItsInterface() throws Exception {
    ConnectionKey one = new ConnectionKey(linkLocal(1), linkLocal(1));
    ConnectionKey other = new ConnectionKey(linkLocal(2), linkLocal(2));
    assertThat(one).isNotEqualTo(other);
    assertThat(one.local()).isTrue();
    for (ConnectionKey key : List.of(one, other)) {
      ByteBuffer encoded = ByteBuffer.wrap(key.encoded());
      assertThat(encoded.remaining()).isEqualTo(ConnectionKey.MAX_BYTES);
      assertThat(ConnectionKey.decode(encoded)).isEqualTo(key);
      assertThat(encoded.hasRemaining()).isFalse();
    }
    byte[] none = one.encoded();
    none[1 + 16 + 2 + 1 + 16 + 3] = 0;
    assertThatThrownBy(() -> ConnectionKey.decode(ByteBuffer.wrap(none)))
        .isInstanceOf(MalformedFrameException.class);
  }

  @Test
  void onlyConnectionsToThisHostsOwnAddressesAreLocal() {
    assertThat(FakeChannel.key(1, 2).local()).isTrue();
    InetSocketAddress here = new InetSocketAddress("10.0.0.1", 1);
    InetSocketAddress there = new InetSocketAddress("10.0.0.2", 1);
    assertThat(new ConnectionKey(here, here).local()).isTrue();
    assertThat(new ConnectionKey(here, there).local()).isFalse();
  }
}
