// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.ucx.Itself.closed;
import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import io.talaria.nio.ucx.Itself.Connection;
import io.talaria.testsupport.ChildProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

  private Itself itself;
  private UcxTransport transport;
  private UcxReadySet readySet;
  private UcxReadySet serverReadySet;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    transport = Itself.transportWith(Integer.toString(STREAMS), Integer.toString(ENDS));
    itself = new Itself(transport, PID, false);
    readySet = new UcxReadySet(transport);
    serverReadySet = new UcxReadySet(transport);
  }

  @AfterEach
  void close() {
    if (serverReadySet != null) {
      readySet.close();
      serverReadySet.close();
    }
  }

  /**
   * A connection whose client has the ready set, as long as that is open, and whose server has
   * none.
   */
  private Connection connect(StreamOwner owner) throws TransportException {
    return itself.connect(readySet, owner);
  }

  private Connection connect() throws TransportException {
    return connect(new FakeOwner());
  }

  private List<Connection> share() throws TransportException {
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      connections.add(connect());
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
    until(() -> transport.ends() == 0);
  }

  @Test
  void whoComesLateToAClosedEngineFindsNothing() throws Exception {
    List<Connection> first = share();
    Connection late = first.get(0);
    assertThat(readySet.arm()).isTrue(); // it remembers the engine
    Connection next = connect();
    for (Connection each : first) {
      each.end();
    }
    until(() -> closed(late.engine));
    readySet.disarm();
    assertThat(readySet.progress(1)).isNotNegative();
    assertThat(late.client.read(ByteBuffer.allocate(1))).isEqualTo(TransportStream.RESET);
    assertThat(late.client.write(ByteBuffer.allocate(1))).isEqualTo(TransportStream.BROKEN);
    late.client.moveTo(readySet);
    assertThat(late.client.await(TransportStream.READ)).isFalse();
    late.client.finishOutput();
    late.client.abandonInput(false);
    assertThat(late.client.flushed()).isTrue();
    assertThat(late.client.detail()).isNotEmpty();
    late.client.peerReleased();
    next.exchange();
    next.end();
  }

  /** An engine that nobody makes streams on any more, and one stream on it. */
  private Connection lastOfAnEngine() throws TransportException {
    List<Connection> first = share();
    connect();
    first.get(0).end();
    first.get(1).end();
    return first.get(2);
  }

  @Test
  void threadsThatEnterWhileItClosesFindNothing() throws Exception {
    Connection last = lastOfAnEngine();
    Engine engine = last.engine;
    List<FutureTask<Integer>> tasks = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      FutureTask<Integer> task = new FutureTask<>(() -> enterUntilClosed(engine));
      tasks.add(task);
      new Thread(task, "entering " + i).start();
    }
    last.end();
    for (FutureTask<Integer> task : tasks) {
      assertThat(task.get()).isZero();
    }
  }

  /** Goes in and out until it has been closed for a while; gives what was found then. */
  private static int enterUntilClosed(Engine engine) {
    int found = 0;
    int after = 0;
    long start = System.nanoTime();
    while (after < 1_000) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(Itself.LIMIT_NS);
      engine.lookIn();
      engine.enter();
      try {
        assertThat(engine.entered()).isTrue();
        engine.enter();
        int events = engine.turn();
        engine.exit();
        if (engine.closed()) {
          after++;
          found += events;
        }
      } finally {
        engine.exit();
      }
      if (after == 0) {
        LockSupport.parkNanos(1_000); // others want to enter, too
      }
    }
    return found;
  }

  @Test
  void anEngineStaysAsLongAsAProcessThatMayStillConnectToIt() throws Exception {
    try (ChildProcess process = ChildProcess.command("sleep", "60").start()) {
      itself = new Itself(transport, process.pid(), false);
      Connection last = lastOfAnEngine();
      itself.endSession(); // and the peer has not said that it is done
      last.client.release();
      last.server.release();
      Engine engine = last.engine;
      until(() -> transport.ends() == 2); // of the one on another engine
      assertThat(over(engine)).isFalse();
      process.kill();
      until(
          () -> {
            transport.stir();
            return closed(engine);
          });
    }
  }

  private static boolean over(Engine engine) {
    engine.enter();
    try {
      return engine.over();
    } finally {
      engine.exit();
    }
  }

  @Test
  void anEngineIsClosedIfThePeerWasDoneBeforeItsSessionEnded() throws Exception {
    itself = new Itself(transport, ProcessHandle.current().pid(), false);
    Connection last = lastOfAnEngine();
    last.end();
    itself.endSession();
    until(() -> closed(last.engine));
  }

  // ---- who sleeps meanwhile

  @Test
  void aReadySetThatSleepsIsWokenByAnEngineThatIsRenewedMeanwhile() throws Exception {
    List<Connection> first = share();
    Connection watched = first.get(1);
    try (Selector selector = JdkNio.provider().openSelector()) {
      readySet.selectable().configureBlocking(false);
      readySet.selectable().register(selector, SelectionKey.OP_READ);
      assertThat(watched.client.watch(TransportStream.READ)).isTrue();
      assertThat(readySet.arm()).isTrue();
      Connection next = connect();
      assertThat(next.engine).isNotSameAs(watched.engine);
      assertThat(watched.server.write(ByteBuffer.allocate(1))).isEqualTo(1);
      assertThat(selector.select(TimeUnit.NANOSECONDS.toMillis(Itself.LIMIT_NS))).isEqualTo(1);
      readySet.disarm();
      next.end();
    }
    for (Connection each : first) {
      each.end();
    }
  }

  @Test
  void aReadySetThatSleepsIsWokenByStreamsOfItsNewEngine() throws Exception {
    List<Connection> first = share();
    assertThat(readySet.arm()).isTrue();
    FakeOwner owner = new FakeOwner();
    Connection next = connect(owner);
    assertThat(next.client.watch(TransportStream.READ)).isTrue();
    owner.forget();
    assertThat(next.server.write(ByteBuffer.allocate(1))).isEqualTo(1);
    owner.assertWoken();
    readySet.disarm();
    next.end();
    for (Connection each : first) {
      each.end();
    }
  }

  /** The engine counts on a ready set that sleeps, and that does not look at it any more. */
  @Test
  void aStreamThatLeavesAReadySetThatSleepsIsLookedAfter() throws Exception {
    List<Connection> first = share();
    FakeOwner owner = new FakeOwner();
    Connection next = connect(owner);
    List<Connection> third = new ArrayList<>(List.of(connect()));
    third.add(connect());
    Engine left = next.engine;
    assertThat(left.spent()).isTrue();
    for (Connection each : third) {
      each.end();
    }
    assertThat(readySet.arm()).isTrue();
    Connection renewed = connect();
    assertThat(renewed.engine).isNotSameAs(left);
    next.client.moveTo(null); // the last there
    assertThat(next.client.watch(TransportStream.READ)).isTrue();
    owner.forget();
    assertThat(next.server.write(ByteBuffer.allocate(1))).isEqualTo(1);
    owner.assertWoken();
    readySet.disarm();
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
    while (transport.ends() < ENDS) {
      all.add(connect());
    }
    assertThatThrownBy(() -> transport.offer(itself.toServer, readySet))
        .hasMessageContaining("16 ends")
        .hasMessageContaining("vm.max_map_count")
        .hasMessageContaining("talaria.ucx.ends")
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LIMIT));
    for (Connection each : all) {
      each.exchange();
    }
    all.get(0).end();
    until(() -> transport.ends() == ENDS - 2);
    connect().exchange();
  }

  private static void refuse(Engine engine, Engine peers) {
    engine.enter();
    engine.refuse(UcxWorkerAddress.unwrap(peers.address()));
    engine.exit();
  }

  /** The client's endpoint is refused. */
  private void clientIsRefused(Connection before, boolean beforehand) throws TransportException {
    Upgrade offer = transport.offer(itself.toServer, readySet);
    Upgrade answer = itself.answer(offer);
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
    itself.deliver();
    assertThat(server.withdrawn()).isTrue();
  }

  @Test
  void aClientWhoseEndpointIsRefusedStaysOnTcpAndTheOthersGoOn() throws Exception {
    itself.serverReadySet = serverReadySet;
    Connection before = connect();
    clientIsRefused(before, false);
    before.exchange();
    clientIsRefused(before, true); // whose number might be another's by now
    Connection after = connect(); // by workers that know nothing of it
    after.exchange();
    before.exchange();
  }

  @Test
  void aServerWhoseEndpointIsRefusedWithdraws() throws Exception {
    Connection before = connect();
    Upgrade offer = transport.offer(itself.toServer, readySet);
    Upgrade answer = itself.answer(offer);
    UcxStream server = (UcxStream) answer.stream();
    refuse(server.engine(), before.engine);
    server.owner(new FakeOwner(), null);
    server.acceptInput();
    assertThat(server.withdrawn()).isTrue();
    itself.deliver();
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
      UcxTransport without = Itself.transportWith(wrong, "1");
      assertThat(without.unavailable()).isEqualTo(Reason.NO_UCX);
      assertThat(without.problem())
          .isEqualTo("talaria.ucx.streams is " + wrong + ", not a number from 1 to 50000");
    }
    assertThat(Itself.transportWith("1", "0").problem()).contains("talaria.ucx.ends is 0");
  }
}
