// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.process.Host;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers that would have the process keep more and more for them. */
@Timeout(120)
class GreedyPeerTest {
  private static final int PORT = 7017;
  private static final int MAX_PENDING = 65_536;
  private static final int MANY_OFFERS = 100_000;
  private static final int REFUSAL_BYTES = 8;
  private static final long STALLED_NS = TimeUnit.SECONDS.toNanos(2);

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();
  private Node node;

  @BeforeEach
  void announce() throws Exception {
    node = new Node(temporary.resolve("run"), transport);
    assertThat(node.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
  }

  private RawSession greeted() throws Exception {
    RawSession session = RawSession.dial(node.announced(PORT));
    session.write(Wire.hello(RawSession.hello(transport.name(), ByteBuffer.allocate(8))));
    session.expect(Wire.WELCOME);
    return session;
  }

  private static ByteBuffer offer(int id, int port) {
    ConnectionKey key =
        new ConnectionKey(
            new InetSocketAddress("127.0." + (id >>> 15 & 0xff) + ".1", 1 + (id & 0x7fff)),
            new InetSocketAddress("127.0.0.1", port));
    return Wire.offer(id, key, null, ByteBuffer.allocate(0));
  }

  /** Each offer of a wrong port is refused at once; who does not take the refusals must wait. */
  @Test
  void whoDoesNotTakeTheAnswersIsNotReadEither() throws Exception {
    try (RawSession session = greeted()) {
      int sent = 0;
      ByteBuffer next = offer(1, PORT + 1);
      long movedNs = System.nanoTime();
      while (System.nanoTime() - movedNs < STALLED_NS && sent < MANY_OFFERS) {
        if (session.writeNow(next) > 0) {
          movedNs = System.nanoTime();
        }
        if (!next.hasRemaining()) {
          sent++;
          next = offer(sent + 1, PORT + 1);
        }
      }
      assertThat(sent).as("offers that were taken").isLessThan(MANY_OFFERS);

      ByteBuffer expected = ByteBuffer.allocate(sent * REFUSAL_BYTES);
      for (int i = 1; i <= sent; i++) { // and none of them is forgotten
        expected.put(Wire.refuse(i, Reason.NOT_MATCHED));
      }
      assertThat(session.readBytes(expected.capacity())).isEqualTo(expected.flip());
      if (next.position() > 0) {
        session.write(next);
        session.expect(Wire.REFUSE);
      }
    }
    node.assertNoFailure();
  }

  @Test
  void offersThatNobodyAcceptsAreLimitedForAllPeersTogether() throws Exception {
    try (RawSession first = greeted();
        RawSession second = greeted()) {
      for (int id = 1; id <= MAX_PENDING; id++) {
        first.write(offer(id, PORT));
      }
      first.write(offer(MAX_PENDING + 1, PORT));
      assertThat(refused(first)).isEqualTo(Reason.BUSY);
      second.write(offer(MAX_PENDING + 2, PORT));
      assertThat(refused(second)).isEqualTo(Reason.BUSY);
      first.write(Wire.withdraw(1));
      assertThat(refused(first)).isEqualTo(Reason.CLOSED_EARLY);
      second.write(offer(MAX_PENDING + 3, PORT));
      node.settle();
      second.write(Wire.withdraw(MAX_PENDING + 3));
      assertThat(refused(second)).as("an offer that there is room for").isNotEqualTo(Reason.BUSY);
    }
    node.assertNoFailure();
  }

  private static Reason refused(RawSession session) throws Exception {
    ByteBuffer body = session.expect(Wire.REFUSE);
    Wire.id(body);
    return Wire.reason(body);
  }

  /** Without a process id, a peer could name the files of any process. */
  @Test
  void whoDoesNotSayWhichProcessItIsIsTurnedAway() throws Exception {
    for (long pid : new long[] {0, -1, Long.MIN_VALUE}) {
      try (RawSession session = RawSession.dial(node.announced(PORT))) {
        session.write(
            Wire.hello(
                new Wire.Hello(
                    Wire.VERSION,
                    pid,
                    Host.bootId(),
                    Host.networkNamespace(),
                    false,
                    transport.name(),
                    ByteBuffer.allocate(8))));
        Frame answer = session.read();
        assertThat(answer).as("answer to process " + pid).isNull();
      }
    }
    assertThat(node.log).anyMatch(line -> line.endsWith("process id 0"));
  }
}
