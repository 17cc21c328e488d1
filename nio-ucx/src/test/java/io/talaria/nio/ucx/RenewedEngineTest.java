// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.nio.fabric.Upgrade;
import io.talaria.nio.jdk.JdkNio;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An engine has made its share of streams: the next are made on another, it goes on with those that
 * it has, and is closed when they are gone. And what happens where no more can be made.
 */
@Timeout(60)
class RenewedEngineTest {
  private static final int STREAMS = 3;
  private static final int ENDS = 16;
  private static final long PID = 4_000_003;
  private static final long LIMIT_NS = 30_000_000_000L;

  private UcxFabric fabric;
  private UcxHome home;

  /** What this side sends the peer's, and the reverse. */
  private final FakePeer toServer = new FakePeer(PID);

  private final FakePeer toClient = new FakePeer(PID);

  @BeforeEach
  void open() throws Exception {
    assumeTrue(Ground.possible(), "no UCX here");
    fabric = fabricWith(Integer.toString(STREAMS), Integer.toString(ENDS));
    fabric.start();
    assertThat(fabric.unavailable()).as(fabric.problem()).isNull();
    fabric.acceptPeer(toClient, fabric.openPeer(toServer));
    home = new UcxHome(fabric);
  }

  private static UcxFabric fabricWith(String streams, String ends) {
    System.setProperty("talaria.ucx.streams", streams);
    System.setProperty("talaria.ucx.ends", ends);
    try {
      return new UcxFabric(false);
    } finally {
      System.clearProperty("talaria.ucx.streams");
      System.clearProperty("talaria.ucx.ends");
    }
  }

  @AfterEach
  void close() {
    if (home != null) {
      home.close();
    }
  }

  /** A connection whose client has the home, as long as it is open, and whose server has none. */
  private final class Connection {
    final UcxStream client;
    final UcxStream server;
    final Engine engine;

    Connection(StreamOwner owner) throws FabricException {
      Upgrade offer = fabric.offer(toServer, home);
      Upgrade answer = fabric.answer(toClient, offer.payload());
      server = (UcxStream) answer.stream();
      server.owner(new FakeOwner(), null);
      offer.answered(answer.payload());
      client = (UcxStream) offer.stream();
      client.owner(owner, null);
      client.moveTo(home);
      client.acceptInput();
      server.acceptInput();
      deliver();
      assertThat(client.established()).isTrue();
      assertThat(server.established()).isTrue();
      client.switchOut(0);
      server.switchOut(0);
      engine = client.engine();
      until(
          () ->
              look(server)
                  && look(client)
                  && server.peerSwitchAt() == 0
                  && client.peerSwitchAt() == 0);
    }

    private boolean look(UcxStream stream) {
      int unused = stream.engine().lookIn();
      return true;
    }

    void exchange() {
      pass(client, server);
      pass(server, client);
    }

    void end() throws FabricException {
      client.release();
      server.release();
      until(
          () -> {
            deliver();
            return client.over() && server.over();
          });
    }
  }

  private void deliver() {
    try {
      boolean more = true;
      while (more) {
        ByteBuffer there = toServer.take();
        ByteBuffer here = toClient.take();
        more = there != null || here != null;
        if (there != null) {
          fabric.received(toClient, there);
        }
        if (here != null) {
          fabric.received(toServer, here);
        }
      }
    } catch (FabricException e) {
      throw new AssertionError(e);
    }
  }

  private static void pass(FabricStream from, FabricStream to) {
    byte[] bytes = {1, 2, 3, 4, 5, 6, 7};
    assertThat(from.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
    ByteBuffer got = ByteBuffer.allocate(bytes.length + 1);
    until(
        () -> {
          assertThat(to.read(got)).as("read").isNotNegative();
          return got.position() >= bytes.length;
        });
    assertThat(got.flip()).isEqualTo(ByteBuffer.wrap(bytes));
  }

  private static void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new AssertionError("nothing has happened for " + LIMIT_NS + " ns");
      }
    }
  }

  private static boolean closed(Engine engine) {
    engine.enter();
    try {
      return engine.closed();
    } finally {
      engine.exit();
    }
  }

  private List<Connection> share() throws FabricException {
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      connections.add(new Connection(new FakeOwner()));
    }
    return connections;
  }

  // ---- workers anew

  @Test
  void aSpentEngineGoesOnWithWhatItHasAndIsClosedAfterTheLast() throws Exception {
    List<Connection> first = share();
    Engine spent = first.get(0).engine;
    assertThat(first).allSatisfy(each -> assertThat(each.engine).isSameAs(spent));
    assertThat(spent.spent()).isTrue();
    List<Connection> second = share();
    assertThat(second.get(0).engine).isNotSameAs(spent);
    for (Connection each : first) {
      each.exchange();
    }
    for (Connection each : second) {
      each.exchange();
    }
    first.get(0).end();
    first.get(1).end();
    first.get(2).exchange();
    assertThat(closed(spent)).isFalse();
    first.get(2).end();
    until(() -> closed(spent));
    for (Connection each : second) {
      each.exchange();
      each.end();
    }
    until(() -> fabric.ends() == 0);
  }

  @Test
  void whoComesLateToAClosedEngineFindsNothing() throws Exception {
    List<Connection> first = share();
    Connection late = first.get(0);
    assertThat(home.arm()).isTrue(); // it remembers the engine
    Connection next = new Connection(new FakeOwner());
    for (Connection each : first) {
      each.end();
    }
    until(() -> closed(late.engine));
    home.disarm();
    assertThat(home.progress(1)).isNotNegative();
    assertThat(late.client.read(ByteBuffer.allocate(1))).isEqualTo(FabricStream.RESET);
    assertThat(late.client.write(ByteBuffer.allocate(1))).isEqualTo(FabricStream.BROKEN);
    late.client.moveTo(home);
    assertThat(late.client.await(FabricStream.READ)).isFalse();
    late.client.finishOutput();
    late.client.abandonInput();
    assertThat(late.client.flushed()).isTrue();
    assertThat(late.client.transport()).isNotEmpty();
    late.client.peerReleased();
    next.exchange();
    next.end();
  }

  // ---- who sleeps meanwhile

  @Test
  void aHomeThatSleepsIsWokenByAnEngineThatIsRenewedMeanwhile() throws Exception {
    List<Connection> first = share();
    Connection watched = first.get(1);
    try (Selector selector = JdkNio.provider().openSelector()) {
      home.selectable().configureBlocking(false);
      home.selectable().register(selector, SelectionKey.OP_READ);
      assertThat(watched.client.watch(FabricStream.READ)).isTrue();
      assertThat(home.arm()).isTrue();
      Connection next = new Connection(new FakeOwner());
      assertThat(next.engine).isNotSameAs(watched.engine);
      assertThat(watched.server.write(ByteBuffer.allocate(1))).isEqualTo(1);
      assertThat(selector.select(TimeUnit.NANOSECONDS.toMillis(LIMIT_NS))).isEqualTo(1);
      home.disarm();
      next.end();
    }
    for (Connection each : first) {
      each.end();
    }
  }

  /** An owner who counts how often he is woken. */
  private static final class Sleeper implements StreamOwner {
    final Semaphore woken = new Semaphore(0);

    @Override
    public void wake() {
      woken.release();
    }

    @Override
    public boolean ring() {
      return true;
    }

    @Override
    public void woken() {}

    @Override
    public void released() {}

    @Override
    public void stalled() {}

    @Override
    public void buffersChanged(int inBytes, int outBytes) {}
  }

  @Test
  void aHomeThatSleepsIsWokenByStreamsOfItsNewEngine() throws Exception {
    List<Connection> first = share();
    assertThat(home.arm()).isTrue();
    Sleeper owner = new Sleeper();
    Connection next = new Connection(owner);
    assertThat(next.client.watch(FabricStream.READ)).isTrue();
    owner.woken.drainPermits();
    assertThat(next.server.write(ByteBuffer.allocate(1))).isEqualTo(1);
    assertThat(owner.woken.tryAcquire(LIMIT_NS, TimeUnit.NANOSECONDS)).isTrue();
    home.disarm();
    next.end();
    for (Connection each : first) {
      each.end();
    }
  }

  /** The engine counts on a home that sleeps, and that does not look at it any more. */
  @Test
  void aStreamThatLeavesAHomeThatSleepsIsLookedAfter() throws Exception {
    List<Connection> first = share();
    Sleeper owner = new Sleeper();
    Connection next = new Connection(owner);
    List<Connection> third = new ArrayList<>(List.of(new Connection(new FakeOwner())));
    third.add(new Connection(new FakeOwner()));
    Engine left = next.engine;
    assertThat(left.spent()).isTrue();
    for (Connection each : third) {
      each.end();
    }
    assertThat(home.arm()).isTrue();
    Connection renewed = new Connection(new FakeOwner());
    assertThat(renewed.engine).isNotSameAs(left);
    next.client.moveTo(null); // the last there
    assertThat(next.client.watch(FabricStream.READ)).isTrue();
    owner.woken.drainPermits();
    assertThat(next.server.write(ByteBuffer.allocate(1))).isEqualTo(1);
    assertThat(owner.woken.tryAcquire(LIMIT_NS, TimeUnit.NANOSECONDS)).isTrue();
    home.disarm();
    next.end();
    renewed.end();
    for (Connection each : first) {
      each.end();
    }
  }

  // ---- where there are no more

  @Test
  void moreEndsThanTheProcessMayHaveAreRefused() throws Exception {
    List<Connection> all = new ArrayList<>();
    while (fabric.ends() < ENDS) {
      all.add(new Connection(new FakeOwner()));
    }
    assertThatThrownBy(() -> fabric.offer(toServer, home))
        .hasMessageContaining("16 ends")
        .hasMessageContaining("vm.max_map_count")
        .hasMessageContaining("talaria.ucx.ends")
        .isInstanceOfSatisfying(
            FabricException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LIMIT));
    for (Connection each : all) {
      each.exchange();
    }
    all.get(0).end();
    until(() -> fabric.ends() == ENDS - 2);
    new Connection(new FakeOwner()).exchange();
  }

  private static void refuse(Engine engine, Engine peers) {
    engine.enter();
    engine.refuse(WorkerPlace.unwrap(peers.address()));
    engine.exit();
  }

  /** The client's endpoint is refused. */
  private void clientIsRefused(Connection before, boolean beforehand) throws FabricException {
    Upgrade offer = fabric.offer(toServer, home);
    Upgrade answer = fabric.answer(toClient, offer.payload());
    UcxStream server = (UcxStream) answer.stream();
    assertThat(server.engine()).isSameAs(before.server.engine());
    server.owner(new FakeOwner(), null);
    if (!beforehand) {
      refuse(before.engine, server.engine());
    }
    offer.answered(answer.payload());
    assertThat(offer.worthless()).isEqualTo(Reason.LIMIT);
    assertThat(offer.stream().withdraw()).isTrue();
    offer.stream().release();
    deliver();
    assertThat(server.withdrawn()).isTrue();
  }

  @Test
  void aClientWhoseEndpointIsRefusedStaysOnTcpAndTheOthersGoOn() throws Exception {
    Connection before = new Connection(new FakeOwner());
    clientIsRefused(before, false);
    before.exchange();
    clientIsRefused(before, true); // whose number might be another's by now
    Connection after = new Connection(new FakeOwner()); // by workers that know nothing of it
    after.exchange();
    before.exchange();
  }

  @Test
  void aServerWhoseEndpointIsRefusedWithdraws() throws Exception {
    Connection before = new Connection(new FakeOwner());
    Upgrade offer = fabric.offer(toServer, home);
    Upgrade answer = fabric.answer(toClient, offer.payload());
    UcxStream server = (UcxStream) answer.stream();
    refuse(server.engine(), before.engine);
    server.owner(new FakeOwner(), null);
    server.acceptInput();
    assertThat(server.withdrawn()).isTrue();
    deliver();
    offer.answered(answer.payload());
    offer.stream().owner(new FakeOwner(), null);
    offer.stream().acceptInput();
    assertThat(offer.stream().withdrawn()).isTrue();
    assertThat(server.established()).isFalse();
    before.exchange();
  }

  @Test
  void aQuarterOfTheMappingsOfAProcessIsTheLimit() throws IOException {
    try (BufferedReader file = Files.newBufferedReader(Path.of("/proc/sys/vm/max_map_count"))) {
      assertThat(Limits.ofProcess().ends()).isEqualTo(Integer.parseInt(file.readLine()) / 4);
    }
  }

  @Test
  void limitsThatAreNoneAreNamed() throws IOException {
    for (String wrong : List.of("0", "-1", "many", "50001")) {
      UcxFabric without = fabricWith(wrong, "1");
      assertThat(without.unavailable()).isEqualTo(Reason.NO_UCX);
      assertThat(without.problem())
          .isEqualTo("talaria.ucx.streams is " + wrong + ", not a number from 1 to 50000");
    }
    assertThat(fabricWith("1", "0").problem()).contains("talaria.ucx.ends is 0");
  }
}
