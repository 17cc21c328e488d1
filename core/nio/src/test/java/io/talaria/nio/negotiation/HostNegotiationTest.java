// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.authentication.Handshake;
import io.talaria.nio.authentication.Seal;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.hosts.HostNegotiation;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The negotiation between hosts: who gets a session, what it is good for, who is turned away. */
@Timeout(120)
class HostNegotiationTest {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] KEY = HostPair.key(1);

  @TempDir Path dir;

  private HostPair pair;

  @BeforeEach
  void make() throws Exception {
    pair = new HostPair(dir);
  }

  private void announce() throws Exception {
    assertThat(pair.server.announce(pair.port)).isEqualTo(Reason.ANNOUNCED);
    pair.server.settle();
  }

  private void assertStillWorks() throws Exception {
    FakeChannel client = pair.connect();
    FakeChannel server = pair.accept(client);
    client.awaitAttached();
    server.awaitAttached();
    pair.server.assertNoFailure();
    pair.client.assertNoFailure();
  }

  private RawHost authenticated() throws Exception {
    return RawHost.call(pair.rendezvous()).prove(true, KEY);
  }

  private RawHost greeted() throws Exception {
    RawHost host = authenticated();
    host.say(Wire.hello(RawSession.hello("fake", NOTHING)));
    host.expect(Wire.WELCOME);
    return host;
  }

  // ---- between honest sides

  @Test
  void bothGetAStream() throws Exception {
    announce();
    assertStillWorks();
    assertThat(pair.serverTransport.peers.get(0).betweenHosts()).isTrue();
    assertThat(pair.clientTransport.peers.get(0).betweenHosts()).isTrue();
  }

  /**
   * As a server does that restarts in its JVM: one turn of the thread finds the end and the new.
   */
  @Test
  void aListenerThatIsBoundAgainAtOnceHasItsRendezvousAgain() throws Exception {
    announce();
    CountDownLatch held = pair.server.hold();
    pair.server.negotiator.retire(pair.server.announcement);
    CompletableFuture<Reason> outcome = new CompletableFuture<>();
    pair.server.announcement =
        pair.server.negotiator.announce(
            new InetSocketAddress("127.0.0.1", pair.port), outcome::complete);
    held.countDown();
    assertThat(outcome.get(60, TimeUnit.SECONDS)).isEqualTo(Reason.ANNOUNCED);
    awaitRendezvous();
    assertStillWorks();
  }

  /** A server restarts gracefully: the old process keeps its connections, the new one listens. */
  @Test
  void theProcessThatHasThePortNowIsCalledThoughASessionWithTheOldOneStands() throws Exception {
    announce();
    assertStillWorks(); // its connection keeps the session
    pair.server.negotiator.retire(pair.server.announcement);
    awaitFree();
    Thread.sleep(1_500); // connections that the old process had accepted are not awaited any more
    Node next =
        new Node(dir.resolve("next"), new FakeTransport(), HostPair.settings(dir, HostPair.ALL, 1));
    assertThat(next.announce(pair.port)).isEqualTo(Reason.ANNOUNCED);
    next.settle();
    for (int i = 0; i < 2; i++) {
      FakeChannel client = pair.connect();
      FakeChannel server = new FakeChannel(client.key());
      next.negotiator.accepted(server);
      client.awaitAttached();
      server.awaitAttached();
    }
    assertThat(pair.clientTransport.peers).hasSize(2);
  }

  /** The selector lets go of a closed rendezvous with its next turn. */
  private void awaitFree() throws Exception {
    while (true) { // the test has a time limit
      try (ServerSocketChannel probe = ServerSocketChannel.open()) {
        probe.bind(pair.rendezvous());
        return;
      } catch (BindException e) {
        Thread.sleep(1);
      }
    }
  }

  /** Behind a few turns: the old one is a socket that takes calls until the next select. */
  private void awaitRendezvous() throws Exception {
    CountDownLatch turns = new CountDownLatch(3);
    pair.server
        .negotiator
        .loop()
        .repeat(
            () -> {
              turns.countDown();
              return turns.getCount() == 0;
            },
            () -> {});
    turns.await();
    while (true) { // the test has a time limit
      try (SocketChannel probe = SocketChannel.open(pair.rendezvous())) {
        assertThat(probe.isConnected()).isTrue();
        return;
      } catch (ConnectException e) {
        Thread.sleep(1);
      }
    }
  }

  @Test
  void whichConnectionsNoRuleNamesIsKnownAtOnce() throws Exception {
    assertThat(pair.client.negotiator.mayReachHost(FakeChannel.key(1, pair.port))).isTrue();
    HostPair other =
        new HostPair(
            Files.createDirectory(dir.resolve("other")),
            HostPair.settings(dir, HostPair.ALL, 1),
            HostPair.settings(dir, "connect 10.0.0.0/8 *\n", 1));
    assertThat(other.client.negotiator.mayReachHost(FakeChannel.key(1, other.port))).isFalse();
  }

  @Test
  void oneSessionServesAllConnections() throws Exception {
    announce();
    for (int i = 0; i < 20; i++) {
      assertStillWorks();
    }
    assertThat(pair.clientTransport.peers).hasSize(1);
    assertThat(pair.serverTransport.peers).hasSize(1);
  }

  @Test
  void manyAtOnceShareTheCall() throws Exception {
    announce();
    List<FakeChannel> clients = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      clients.add(pair.connect());
    }
    for (FakeChannel client : clients) {
      pair.accept(client).awaitAttached();
      client.awaitAttached();
    }
    assertThat(pair.clientTransport.peers).hasSize(1);
  }

  @Test
  void aListenerThatComesALittleLaterIsFound() throws Exception {
    FakeChannel client = pair.connect();
    client.awaitPlain(Reason.NO_RENDEZVOUS);
    CountDownLatch held = pair.client.hold(); // or its last look may come before the listener
    announce();
    held.countDown();
    FakeChannel server = pair.accept(client);
    client.awaitAttached();
    server.awaitAttached();
  }

  @Test
  void whoCannotBeReachedIsNotCalledAgainForAWhile() throws Exception {
    FakeChannel first = pair.connect();
    first.awaitPlain(Reason.NO_RENDEZVOUS);
    awaitRefusals(pair.client, 1); // the last look has been made
    announce();
    FakeChannel second = pair.connect();
    awaitRefusals(pair.client, 2);
    second.awaitPlain(Reason.NO_RENDEZVOUS); // it is counted before
    assertThat(second.attachments.get()).isZero();
  }

  private static void awaitRefusals(Node node, long count) throws InterruptedException {
    ProcessTotals totals;
    do {
      Thread.sleep(1); // the test has a deadline
      totals = node.negotiator.counters().totals();
    } while (totals.refused().getOrDefault(Reason.NO_RENDEZVOUS, 0L) < count);
  }

  @Test
  void theEndOfAListenerIsTheEndOfItsRendezvous() throws Exception {
    announce();
    RawHost silent = RawHost.call(pair.rendezvous());
    pair.server.negotiator.retire(pair.server.announcement);
    silent.awaitEnd();
    assertThatThrownBy(() -> RawHost.call(pair.rendezvous()).read(1))
        .isInstanceOfAny(ConnectException.class, SocketException.class);
  }

  @Test
  void aRendezvousPortThatIsTakenIsSaidAndDoesNoHarm() throws Exception {
    try (ServerSocketChannel other = ServerSocketChannel.open().bind(pair.rendezvous())) {
      announce();
      assertThat(pair.server.log)
          .anySatisfy(
              line ->
                  assertThat(line)
                      .startsWith("no-rendezvous: no rendezvous at /127.0.0.1:")
                      .contains("Address already in use"));
      assertThat(other.isOpen()).isTrue();
    }
  }

  @Test
  void withoutABindRuleThereIsNoRendezvous() throws Exception {
    pair =
        new HostPair(
            dir,
            HostPair.settings(dir, "bind 127.0.0.1 1", 1),
            HostPair.settings(dir, HostPair.ALL, 1));
    announce();
    assertThatThrownBy(() -> RawHost.call(pair.rendezvous())).isInstanceOf(ConnectException.class);
  }

  @Test
  void nobodyIsAskedWhomNoRuleNames() throws Exception {
    pair =
        new HostPair(
            dir,
            HostPair.settings(dir, HostPair.ALL, 1),
            HostPair.settings(dir, "connect 10.0.0.0/8 *\nbind * *", 1));
    announce();
    pair.connect().awaitPlain(Reason.NO_RULE);
    assertThat(pair.server.negotiator.counters().totals().refused()).isEmpty();
  }

  // ---- keys and versions

  @Test
  void anotherKeyIsTurnedAway() throws Exception {
    pair =
        new HostPair(
            dir, HostPair.settings(dir, HostPair.ALL, 1), HostPair.settings(dir, HostPair.ALL, 2));
    announce();
    pair.connect().awaitPlain(Reason.NOT_AUTHENTICATED);
    assertThat(pair.serverTransport.peers).isEmpty();
    assertThat(pair.clientTransport.peers).isEmpty();
    assertThat(pair.client.log)
        .anySatisfy(line -> assertThat(line).startsWith("not-authenticated: rendezvous at"));
  }

  @Test
  void aCallerWithoutProofReachesNothing() throws Exception {
    announce();
    try (RawHost host = RawHost.call(pair.rendezvous())) {
      host.write(new Handshake(true, KEY, FakeChannel.key(1, 2).encoded()).first());
      host.read(Handshake.REPLY_BYTES);
      host.write(ByteBuffer.allocate(Handshake.PROOF_BYTES));
      host.awaitEnd();
    }
    pair.server.settle();
    assertThat(pair.serverTransport.peers).isEmpty();
    assertThat(pair.server.negotiator.counters().totals().refused())
        .containsEntry(Reason.NOT_AUTHENTICATED, 1L);
    assertStillWorks();
  }

  @Test
  void aServerOfAnotherVersionIsRemembered() throws Exception {
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(pair.rendezvous())) {
      FakeChannel client = pair.connect();
      try (RawHost host = new RawHost(server.accept())) {
        ByteBuffer call = host.read(Handshake.CALL_BYTES);
        host.write(call.limit(Handshake.START_BYTES).putShort(Long.BYTES, (short) 2));
        client.awaitPlain(Reason.VERSION_MISMATCH);
      }
      pair.connect().awaitPlain(Reason.VERSION_MISMATCH);
    }
  }

  @Test
  void somethingElseAtThePortIsNotTalkedTo() throws Exception {
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(pair.rendezvous())) {
      FakeChannel client = pair.connect();
      try (RawHost host = new RawHost(server.accept())) {
        host.write(
            ByteBuffer.wrap("HTTP/1.1 400 Bad Request\r\n".getBytes(StandardCharsets.US_ASCII)));
        client.awaitPlain(Reason.PROTOCOL);
        host.awaitEnd();
      }
    }
    assertThat(pair.clientTransport.peers).isEmpty();
  }

  // ---- those who have the key

  @Test
  void connectionsOfOtherHostsCannotBeClaimed() throws Exception {
    announce();
    try (RawHost host = greeted()) {
      host.say(
          Wire.offer(
              1,
              new ConnectionKey(
                  new InetSocketAddress("127.0.0.2", 5), FakeChannel.key(5, pair.port).server()),
              null,
              NOTHING));
      ByteBuffer refusal = host.expect(Wire.REFUSE);
      assertThat(Wire.id(refusal)).isEqualTo(1);
      assertThat(Wire.reason(refusal)).isEqualTo(Reason.NOT_MATCHED);
    }
  }

  @Test
  void theyAreToldThatATransportIsNotThere() throws Exception {
    announce();
    try (RawHost host = authenticated()) {
      host.say(Wire.hello(RawSession.hello("shm", NOTHING)));
      assertThat(Wire.reason(host.expect(Wire.REJECT))).isEqualTo(Reason.NO_UCX);
      host.awaitEnd();
    }
  }

  @Test
  void aFrameThatIsSaidAgainEndsTheSession() throws Exception {
    announce();
    try (RawHost host = greeted()) {
      ByteBuffer frame = host.sealed(Wire.withdraw(7));
      host.write(frame.duplicate());
      host.write(frame.duplicate());
      host.awaitEnd();
    }
    assertStillWorks();
    assertThat(pair.server.log)
        .anySatisfy(line -> assertThat(line).contains("a frame with another tag than its own"));
  }

  @Test
  void aFrameThatIsTooLongOrUnsealedEndsTheSession() throws Exception {
    announce();
    for (int length : new int[] {0, 1, 16, Wire.MAX_FRAME_BYTES + Seal.TAG_BYTES + 1, 65_535}) {
      try (RawHost host = greeted()) {
        host.write(ByteBuffer.allocate(2 + 64).putShort(0, (short) length));
        host.awaitEnd();
      }
    }
    assertStillWorks();
  }

  // ---- those who have not

  @Test
  void whoTakesHisTimeIsNotWaitedFor() throws Exception {
    announce();
    long start = System.nanoTime(); // the limit runs from the call
    try (RawHost silent = RawHost.call(pair.rendezvous());
        RawHost slow = RawHost.call(pair.rendezvous())) {
      ByteBuffer call = new Handshake(true, KEY, FakeChannel.key(1, 2).encoded()).first();
      try {
        while (call.hasRemaining()) {
          slow.write(call.slice(call.position(), 1));
          call.position(call.position() + 1);
          Thread.sleep(200);
        }
        slow.awaitEnd();
      } catch (IOException e) {
        // It has hung up in between.
      }
      silent.awaitEnd();
      assertThat(System.nanoTime() - start)
          .isGreaterThanOrEqualTo(HostNegotiation.HANDSHAKE_LIMIT_NS - 1_000_000_000L);
    }
    assertStillWorks();
  }

  @Test
  void aCrowdOfStrangersKeepsNobodyOut() throws Exception {
    announce();
    List<RawHost> crowd = new ArrayList<>();
    try {
      for (int i = 0; i < HostNegotiation.MAX_UNAUTHENTICATED + 20; i++) {
        crowd.add(RawHost.call(pair.rendezvous()));
      }
      assertStillWorks();
      crowd.get(0).awaitEnd();
    } finally {
      for (RawHost host : crowd) {
        host.close();
      }
    }
  }

  @Test
  void noiseAndDamageReachNothing() throws Exception {
    announce();
    Random random = new Random(20_261_121);
    for (int i = 0; i < 400; i++) {
      try (RawHost host = RawHost.call(pair.rendezvous())) {
        babble(host, random);
      } catch (IOException e) {
        // It has hung up, as it should.
      }
    }
    pair.server.settle();
    assertThat(pair.serverTransport.answers.get()).isZero();
    assertStillWorks();
  }

  private static void babble(RawHost host, Random random) throws Exception {
    switch (random.nextInt(4)) {
      case 0 -> host.write(Frames.noise(random, 300));
      case 1 ->
          host.write(
              Frames.damaged(
                  random, new Handshake(true, KEY, FakeChannel.key(1, 2).encoded()).first()));
      case 2 -> {
        host.write(new Handshake(true, KEY, FakeChannel.key(1, 2).encoded()).first());
        host.write(Frames.noise(random, 200));
      }
      default -> {
        host.prove(true, KEY);
        for (int n = random.nextInt(5); n > 0; n--) {
          ByteBuffer frame = host.sealed(Frames.any(random, 1, () -> Frames.noise(random, 100)));
          host.write(random.nextBoolean() ? frame : Frames.damaged(random, frame));
        }
      }
    }
    if (random.nextBoolean()) {
      host.channel.shutdownOutput();
      host.awaitEnd();
    }
  }
}
