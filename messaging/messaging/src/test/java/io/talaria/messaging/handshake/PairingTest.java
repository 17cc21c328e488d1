// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.handshake.Pairing.Verdict;
import io.talaria.messaging.handshake.PairingWorld.Member;
import io.talaria.testsupport.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Nodes that dial, lose connections, die, start again with their id and hear frames late: in all
 * orders of a few steps, and in many random ones, each two of them end with one connection that
 * both know, and no connection that both know is given up for another.
 */
class PairingTest {
  private static final int SMALL = 3;
  private static final int MIDDLE = 5;
  private static final int LARGE = 7;
  private static final int RUNS = 20_000;

  private final Random random = seeded();

  private static Random seeded() {
    long seed = Seed.next();
    return new Random(seed);
  }

  private Member any(PairingWorld world) {
    return world.processes().get(random.nextInt(world.processes().size()));
  }

  /** A dial, a loss, or a frame that arrives; the latter more often. */
  private void step(PairingWorld world) {
    Member from = any(world);
    Member to = any(world);
    switch (random.nextInt(4)) {
      case 0 -> {
        if (world.mayDial(from, to)) {
          world.dial(from, to);
        }
      }
      case 1 -> {
        if (from.alive && random.nextInt(4) == 0) {
          world.lose(from, to.id);
        }
      }
      default -> world.deliverOne(random);
    }
  }

  private void steps(PairingWorld world, int most) {
    for (int left = random.nextInt(most); left > 0; left--) {
      step(world);
    }
  }

  private static PairingWorld world(int... ids) {
    PairingWorld world = new PairingWorld();
    for (int id : ids) {
      world.start(id);
    }
    return world;
  }

  @Test
  void randomOrdersEndInOneConnection() {
    for (int run = 0; run < RUNS; run++) {
      PairingWorld world = world(SMALL, LARGE);
      steps(world, 30);
      world.settle(random);
    }
  }

  @Test
  void threeNodesEndInThreeConnections() {
    for (int run = 0; run < RUNS; run++) {
      PairingWorld world = world(SMALL, MIDDLE, LARGE);
      steps(world, 60);
      world.settle(random);
    }
  }

  /** While others dial it, a node dies, and another process with its id starts. */
  @Test
  void aNodeThatStartsAgainIsConnectedInsteadOfItsPredecessor() {
    for (int run = 0; run < RUNS; run++) {
      PairingWorld world = world(SMALL, MIDDLE, LARGE);
      for (int deaths = random.nextInt(3); deaths >= 0; deaths--) {
        steps(world, 30);
        Member dies = any(world);
        if (dies.alive) {
          world.kill(dies);
          steps(world, 10);
          world.start(dies.id);
        }
      }
      steps(world, 30);
      world.settle(random);
    }
  }

  /** Two processes claim one id: the one that is connected keeps it while it lives. */
  @Test
  void anIdThatIsInUseStaysWithWhoHasIt() {
    for (int run = 0; run < RUNS; run++) {
      boolean smaller = random.nextBoolean();
      PairingWorld world = world(MIDDLE, smaller ? SMALL : LARGE);
      steps(world, 20);
      Member rival = world.start(smaller ? SMALL : LARGE);
      steps(world, 40);
      world.settle(random);
      if (random.nextBoolean()) {
        world.kill(rival);
      } else {
        world.kill(world.processes().get(1));
      }
      steps(world, 20);
      world.settle(random);
    }
  }

  /** Both dial; then every order of what follows. */
  @Test
  void allOrdersOfTwoDialsEndInOneConnection() {
    assertThat(explore(new ArrayList<>(), 12, () -> ofDials(SMALL, LARGE))).isGreaterThan(10);
  }

  /** Each of three dials the next one; then every order of what follows. */
  @Test
  void allOrdersOfThreeDialsEndInThreeConnections() {
    assertThat(explore(new ArrayList<>(), 9, () -> ofDials(SMALL, MIDDLE, LARGE)))
        .isGreaterThan(1000);
  }

  /** A node and two processes that claim one id dial; then every order of what follows. */
  @Test
  void allOrdersOfTwoProcessesWithOneIdEndInOneConnection() {
    assertThat(explore(new ArrayList<>(), 12, () -> ofDials(LARGE, SMALL, SMALL)))
        .isGreaterThan(100);
    assertThat(explore(new ArrayList<>(), 12, () -> ofDials(SMALL, LARGE, LARGE)))
        .isGreaterThan(100);
  }

  /**
   * A node has asked whether its connection lives, because another process has come with that id.
   * Meanwhile the connection ends, and it dials the other process; then every order of what
   * follows.
   */
  @Test
  void allOrdersOfADialWhileAnIdIsInDoubtEndInOneConnection() {
    for (int other : List.of(SMALL, LARGE)) {
      assertThat(explore(new ArrayList<>(), 20, () -> inDoubt(other))).isGreaterThan(10);
    }
  }

  private static PairingWorld inDoubt(int other) {
    PairingWorld world = world(MIDDLE, other);
    Member node = world.processes().getFirst();
    Member first = world.processes().getLast();
    world.dial(first, node);
    world.deliverAll();
    Member second = world.start(other);
    world.dial(second, node);
    world.deliver(0);
    assertThat(world.toString()).endsWith("HELLO1=ASK");
    world.kill(first);
    world.deliver(world.underWay() - 1);
    assertThat(world.toString()).endsWith("END1");
    world.dial(node, second);
    return world;
  }

  /** Each dials the next one, but nobody dials a process with its own id. */
  private static PairingWorld ofDials(int... ids) {
    PairingWorld world = world(ids);
    List<Member> all = world.processes();
    for (int i = 0; i < ids.length; i++) {
      Member next = all.get((i + 1) % ids.length);
      world.dial(all.get(i), next.id == all.get(i).id ? all.getFirst() : next);
    }
    return world;
  }

  private static int explore(List<Integer> choices, int most, Supplier<PairingWorld> start) {
    PairingWorld world = start.get();
    for (int choice : choices) {
      world.deliver(choice);
    }
    if (world.underWay() == 0 || choices.size() > most) {
      world.settle(new Random(1));
      return 1;
    }
    int count = 0;
    for (int i = 0; i < world.underWay(); i++) {
      if (world.first(i)) {
        choices.add(i);
        count += explore(choices, most, start);
        choices.removeLast();
      }
    }
    return count;
  }

  @Test
  void aLateHelloIsRefused() {
    Pairing pairing = new Pairing(SMALL, LARGE);
    assertThat(pairing.onHello(9, 0)).isEqualTo(Verdict.ACCEPT);
    int number = pairing.nextNumber(0);
    assertThat(pairing.established(number, 9)).isTrue();
    assertThat(pairing.onHello(9, 0)).isEqualTo(Verdict.REFUSE_LATE);
    assertThat(pairing.onHello(9, number)).isEqualTo(Verdict.REPLACE);
    assertThat(pairing.onHello(10, 0)).isEqualTo(Verdict.ASK);
    pairing.ended(number);
    assertThat(pairing.onHello(10, 0)).isEqualTo(Verdict.ACCEPT);
  }

  @Test
  void theSmallerIdsDialWinsOnceItHasSaidHello() {
    Pairing small = new Pairing(SMALL, LARGE);
    Pairing large = new Pairing(LARGE, SMALL);
    assertThat(small.onHello(1, 0)).isEqualTo(Verdict.ACCEPT);
    small.saidHello();
    large.saidHello();
    assertThat(small.onHello(1, 0)).isEqualTo(Verdict.REFUSE_OWN_DIAL);
    assertThat(large.onHello(1, 0)).isEqualTo(Verdict.ACCEPT);
    small.dialEnded();
    assertThat(small.onHello(1, 0)).isEqualTo(Verdict.ACCEPT);
  }
}
