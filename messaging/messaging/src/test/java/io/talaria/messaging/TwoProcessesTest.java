// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Text;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.node.LocalNode;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nodes in two processes: what they say to each other, and what is told when one is killed. */
@Timeout(180)
class TwoProcessesTest {
  private static final Duration LONG = TestVerbs.limit();
  private static final int THERE = 2;
  private static final boolean LONG_RUN = Integer.getInteger("talaria.test.rounds", 150) >= 150;

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private final List<Child> children = new ArrayList<>();

  private final class Child {
    final ChildProcess process;
    final String said;

    Child(Variant variant, int id) throws IOException, InterruptedException {
      process = TestJvm.of(NodeMain.class, 256, variant.name(), directory, id).start();
      children.add(this);
      said = process.awaitLine(".*", LONG).group();
      if (said.startsWith("RUNS ") && variant == Variant.TCP) {
        int port = Integer.parseInt(said.substring(5));
        nodes.addresses.put(id, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      }
    }

    void end() throws Exception {
      process.closeInput();
      int unused = process.awaitEnd(LONG);
    }
  }

  private Node start(Variant variant) throws Exception {
    variant.assumeBetweenProcesses();
    nodes = new Variant.Nodes(variant, directory);
    return nodes.start(
        nodes
            .options(1)
            .sendTimeout(LONG)
            .type(Pair.class)
            .type(Text.class)
            .type(Response.class)
            .type(Bytes.class));
  }

  /** Its listener stays ready as long as no descriptor is free. */
  @Test
  void aNodeWithoutDescriptorsNeitherSpinsNorFloodsTheLog() throws Exception {
    Node here = start(Variant.TCP);
    ChildProcess scarce =
        TestJvm.of(ScarceNodeMain.class, 64, directory, THERE)
            .under("sh", "-c", "ulimit -n 200 && exec \"$0\" \"$@\"")
            .start();
    try (scarce) {
      int port = Integer.parseInt(scarce.awaitLine("PORT (.*)", LONG).group(1));
      nodes.addresses.put(THERE, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      assertThat(here.peer(THERE).trySend(new Pair(1, 2))).isEqualTo(Peer.CONNECTING);
      Waits.await(() -> warnings(scarce) > 0); // it cannot accept
      Thread.sleep(500); // in which it could flood the log
      scarce.send("");
      assertThat(scarce.awaitLine("FREE", LONG)).isNotNull();
      assertThat(warnings(scarce)).isBetween(1L, 10L); // of the accept, and of the node's files
      assertThat(here.peer(THERE).send(new Pair(42, 2))).isPositive();
      assertThat(scarce.awaitLine("GOT (42)", LONG).group(1)).isEqualTo("42");
      scarce.closeInput();
      assertThat(scarce.awaitEnd(LONG)).isZero();
    }
  }

  private static long warnings(ChildProcess of) {
    return of.err().stream().filter(line -> line.matches("WARNING: .*Exception.*")).count();
  }

  @AfterEach
  void endAll() throws Exception {
    if (nodes != null) {
      nodes.close();
    }
    for (Child each : children) {
      each.process.close();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void messagesAndRequestsGoBetweenProcesses(Variant variant) throws Exception {
    Node node = start(variant);
    Child child = new Child(variant, THERE);
    Peer peer = node.peer(THERE);
    int count = LONG_RUN ? 200_000 : 50_000;
    long position = 0;
    for (int i = 0; i < count; i++) {
      position = peer.send(new Pair(i, 1));
    }
    assertThat(peer.awaitDelivered(position, LONG)).isTrue();
    assertThat(peer.transport()).isEqualTo(variant.name().toLowerCase(Locale.ROOT));
    assertThat(peer.request(new Text("wrong"), Text.class, LONG).text()).isEmpty();
    for (long got = 0; got < count; ) {
      got = peer.request(new Text("count"), Response.class, LONG).value();
    }
    for (int i = 0; i < count / 40; i++) {
      assertThat(peer.request(new Pair(i, 7), Response.class, LONG).value()).isEqualTo(i + 7);
    }
    for (int size : new int[] {0, 10_000, 40_000, 3 << 20}) {
      byte[] bytes = new byte[size];
      new Random(size).nextBytes(bytes);
      assertThat(peer.request(new Bytes(bytes), Bytes.class, LONG).bytes()).isEqualTo(bytes);
    }
    child.end();
    node.close();
    Waits.assertNothingLeft(directory);
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void whoWaitsForAKilledProcessIsToldAndTheNextOneIsFound(Variant variant) throws Exception {
    Node node = start(variant);
    AtomicReference<String> lost = new AtomicReference<>();
    node.listen(
        new NodeListener() {
          @Override
          public void lost(Peer peer, String reason, long unacknowledgedBytes) {
            lost.set(peer.id() + ": " + reason);
          }
        });
    Child child = new Child(variant, THERE);
    Peer peer = node.peer(THERE);
    ResponseFuture<Response> never = peer.requestAsync(new Text("never"), Response.class, LONG);
    assertThat(peer.request(new Text("echo"), Text.class, LONG).text()).isEqualTo("echo");
    AtomicReference<Throwable> asked = new AtomicReference<>();
    Thread asking =
        Thread.ofPlatform()
            .start(
                () ->
                    asked.set(
                        catchThrowableOfType(
                            MessagingException.class,
                            () -> peer.request(new Text("never"), Response.class, LONG))));
    // A request is open before it is sent, and waits for its response after that.
    while (node.counters().openRequests() < 2 || asking.getState() != Thread.State.TIMED_WAITING) {
      Thread.sleep(1);
    }
    child.process.kill();
    MessagingException told =
        catchThrowableOfType(MessagingException.class, () -> never.await(LONG));
    assertThat(told.code()).isEqualTo(Code.LOST);
    asking.join();
    assertThat(((MessagingException) asked.get()).code()).isEqualTo(Code.LOST);
    while (lost.get() == null) {
      Thread.sleep(1);
    }
    assertThat(lost.get()).startsWith("2: ");
    Child next = new Child(variant, THERE);
    assertThat(next.said).startsWith("RUNS");
    assertThat(peer.request(new Pair(3, 4), Response.class, LONG).value()).isEqualTo(7);
    assertThat(node.counters().connected()).isEqualTo(2);
    next.end();
    node.close();
    Waits.assertNothingLeft(directory);
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void aSenderThatWaitsForRoomIsToldOfTheDeath(Variant variant) throws Exception {
    Node node = start(variant);
    AtomicReference<String> lost = new AtomicReference<>();
    node.listen(
        new NodeListener() {
          @Override
          public void lost(Peer peer, String reason, long unacknowledgedBytes) {
            lost.set(reason);
          }
        });
    Child child = new Child(variant, THERE);
    Peer peer = node.peer(THERE);
    Response response = peer.requestAsync(new Pair(3, 4), Response.class, LONG).await(LONG);
    assertThat(response.value()).isEqualTo(7);
    // Stopped, it takes nothing, and the ring fills.
    child.process.signal("STOP");
    AtomicLong sent = new AtomicLong();
    AtomicBoolean enough = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread sending =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    while (!enough.get()) {
                      long ignored = peer.send(new Bytes(new byte[4000]));
                      sent.incrementAndGet();
                    }
                  } catch (MessagingException | RuntimeException e) {
                    failure.set(e);
                  }
                });
    SenderState.awaitWaiting(sending, sent, peer, new Bytes(new byte[4000]));
    long before = sent.get();
    child.process.kill();
    // It leaves the wait for room, and waits for a connection, which nobody makes.
    while (peer.connected()) {
      Thread.sleep(1);
    }
    Waits.await(() -> lost.get() != null); // told after that, by another thread
    assertThat(lost.get()).as("found by its end").doesNotContain("nothing was heard");
    assertThatThrownBy(() -> peer.request(new Pair(3, 4), Response.class, Duration.ofMillis(300)))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.UNREACHABLE));
    assertThat(failure.get()).isNull();
    assertThat(sent.get()).isEqualTo(before);
    // The next process gets what waited.
    Child next = new Child(variant, THERE);
    while (sent.get() == before && sending.isAlive()) {
      Thread.sleep(1);
    }
    enough.set(true);
    sending.join();
    assertThat(failure.get()).isNull();
    assertThat(sent.get()).isGreaterThan(before);
    next.end();
    node.close();
    Waits.assertNothingLeft(directory);
  }

  /** Sends until there has been no room for a while: ring, session and the other end are full. */
  private static void fill(Peer peer) throws InterruptedException {
    for (int refused = 0; refused < 500; ) { // not for a time, in which this thread may not run
      if (peer.trySend(new Bytes(new byte[4000])) > 0) {
        refused = 0;
      } else {
        refused++;
        Thread.sleep(1);
      }
    }
  }

  /** What the killed process has not taken can never reach it. */
  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void closingDoesNotWaitForAKilledProcess(Variant variant) throws Exception {
    LocalNode node = (LocalNode) start(variant);
    Child child = new Child(variant, THERE);
    assertThat(node.peer(THERE).request(new Text("echo"), Text.class, LONG).text())
        .isEqualTo("echo");
    Connection connection = node.remote(THERE).connection();
    Waits.await(connection::idle);
    child.process.signal("STOP");
    boolean takesGoodbye = variant != Variant.SHM; // the session, or memory of UCX
    if (takesGoodbye) {
      fill(node.peer(THERE));
    }
    AtomicLong left = new AtomicLong(-1);
    Thread closing = Thread.ofPlatform().start(() -> left.set(node.close(Duration.ofDays(1))));
    // It waits until the stopped process has taken what was sent, or else the goodbye.
    Waits.await(
        () ->
            closing.getState() == Thread.State.TIMED_WAITING
                && (takesGoodbye || connection.closing().leaving)
                && connection.unconsumedBytes() > 0);
    child.process.kill();
    assertThat(closing.join(LONG)).as("it is closed").isTrue();
    assertThat(left.get()).as("bytes that were not delivered").isPositive();
  }

  /**
   * What was begun is given back, again and again: there is memory for no more than one. Not on
   * UCX's shared memory, whose queue stands still once a sender was killed in the middle of it.
   */
  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "VERBS"})
  void killsInTheMiddleOfLargeMessagesCostNoMemory(Variant variant) throws Exception {
    variant.assumeBetweenProcesses();
    nodes = new Variant.Nodes(variant, directory);
    AtomicLong got = new AtomicLong();
    AtomicLong torn = new AtomicLong();
    Node node =
        nodes.start(
            nodes
                .options(1)
                .sendTimeout(Duration.ofSeconds(20))
                .receiveBudget(3 << 20)
                .type(Text.class)
                .type(Pair.class)
                .type(Response.class)
                .receive(
                    Bytes.class,
                    (bytes, from) -> {
                      int length = bytes.bytes().length;
                      torn.addAndGet(length == 2 << 20 || length == 200_000 ? 0 : 1);
                      got.incrementAndGet();
                    }));
    Random random = new Random(3);
    for (int round = 0; round < (LONG_RUN ? 6 : 3); round++) {
      Child child = new Child(variant, THERE);
      Peer peer = node.peer(THERE);
      assertThat(peer.request(new Text("flood"), Text.class, LONG).text()).isEqualTo("flood");
      long enough = got.get() + 5 + random.nextInt(20);
      long deadline = System.nanoTime() + LONG.toNanos();
      while (got.get() < enough) {
        assertThat(System.nanoTime()).as("round %d", round).isLessThan(deadline);
        Thread.sleep(1); // a spin would take the core of those it waits for
      }
      child.process.kill();
      while (peer.connected()) {
        Thread.sleep(1);
      }
    }
    assertThat(torn.get()).isZero();
    Child last = new Child(variant, THERE); // clears away what the one before has left
    assertThat(node.peer(THERE).request(new Text("echo"), Text.class, LONG).text())
        .isEqualTo("echo");
    last.end();
    node.close();
    Waits.assertNothingLeft(directory);
  }

  @Test
  void twoProcessesOfAHostCannotHaveOneId() throws Exception {
    Node node = start(Variant.SHM);
    Child second = new Child(Variant.SHM, node.id());
    assertThat(second.said)
        .startsWith("FAILED")
        .contains("node 1 of this cluster runs on this host");
    int unused = second.process.awaitEnd(LONG);
  }

  @Test
  void nobodyThereIsToldWithinTheLimit() throws Exception {
    nodes = new Variant.Nodes(Variant.SHM, directory);
    Node node = nodes.start(nodes.options(1).sendTimeout(Duration.ofMillis(300)).type(Pair.class));
    assertThat(node.peer(9).trySend(new Pair(1, 2))).isEqualTo(Peer.CONNECTING);
    // The conductor may need longer for that than the send waits.
    Waits.await(() -> node.peer(9).reason().contains("not announced"));
    assertThatThrownBy(() -> node.peer(9).send(new Pair(1, 2)))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.UNREACHABLE))
        .hasMessageContaining("node 9 is not announced on this host");
  }
}
