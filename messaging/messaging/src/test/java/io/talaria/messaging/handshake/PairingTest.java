// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.handshake.Pairing.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Two nodes that dial, lose connections and hear frames late: in all orders of a few steps, and in
 * many random ones, they end with one connection that both know.
 */
class PairingTest {
  private static final int SMALL = 3;
  private static final int LARGE = 7;

  /** A frame under way. */
  private record Frame(int to, String kind, int number, Dial dial) {}

  /** A channel from one to the other. */
  private static final class Dial {
    boolean open = true;
  }

  /** Both nodes and what is under way between them. */
  private static final class World {
    final Pairing[] pairing = {new Pairing(SMALL, LARGE), new Pairing(LARGE, SMALL)};
    final Dial[] dial = new Dial[2];
    final Dial[] connected = new Dial[2];
    final int[] connectedNumber = new int[2];
    final List<Frame> frames = new ArrayList<>();
    final StringBuilder story = new StringBuilder();

    boolean mayDial(int node) {
      return dial[node] == null && connected[node] == null;
    }

    void dial(int node) {
      story.append(" dial").append(node);
      dial[node] = new Dial();
      pairing[node].saidHello();
      frames.add(new Frame(1 - node, "HELLO", pairing[node].heard(), dial[node]));
    }

    void close(Dial which) {
      if (which == null || !which.open) {
        return;
      }
      which.open = false;
      for (int node = 0; node < 2; node++) {
        frames.add(new Frame(node, "END", 0, which));
      }
    }

    private void end(int node, Dial which) {
      if (dial[node] == which) {
        dial[node] = null;
        pairing[node].dialEnded();
      }
      if (connected[node] == which) {
        connected[node] = null;
        pairing[node].ended(connectedNumber[node]);
      }
    }

    private void connect(int node, Dial which, int number) {
      if (dial[node] == which) {
        dial[node] = null;
        pairing[node].dialEnded();
      }
      if (pairing[node].established(number, 1 - node)) {
        connected[node] = which;
        connectedNumber[node] = number;
      } else {
        close(which);
      }
    }

    void deliver(int index) {
      Frame frame = frames.remove(index);
      int node = frame.to;
      story.append(' ').append(frame.kind).append(node);
      if (frame.kind.equals("END")) {
        end(node, frame.dial);
        return;
      }
      if (!frame.dial.open) {
        return;
      }
      switch (frame.kind) {
        case "HELLO" -> hello(node, frame);
        case "WELCOME" -> {
          frames.add(new Frame(1 - node, "READY", frame.number, frame.dial));
          connect(node, frame.dial, frame.number);
        }
        case "READY" -> connect(node, frame.dial, frame.number);
        default -> close(frame.dial); // REJECT
      }
    }

    private void hello(int node, Frame frame) {
      Verdict verdict = pairing[node].onHello(1 - node, frame.number);
      story.append('=').append(verdict);
      switch (verdict) {
        case ACCEPT, REPLACE -> {
          if (connected[node] != null) {
            Dial old = connected[node];
            connected[node] = null;
            pairing[node].ended(connectedNumber[node]);
            close(old);
          }
          if (dial[node] != null) {
            Dial own = dial[node];
            dial[node] = null;
            pairing[node].dialEnded();
            close(own);
          }
          int number = pairing[node].nextNumber(frame.number);
          frames.add(new Frame(1 - node, "WELCOME", number, frame.dial));
        }
        default -> frames.add(new Frame(1 - node, "REJECT", 0, frame.dial));
      }
    }

    /** Whether a frame may be the next to arrive: those of one dial to one node stay in order. */
    boolean first(int index) {
      Frame frame = frames.get(index);
      for (int i = 0; i < index; i++) {
        if (frames.get(i).dial == frame.dial && frames.get(i).to == frame.to) {
          return false;
        }
      }
      return true;
    }

    void settle(Random random) {
      for (int turn = 0; turn < 1000; turn++) {
        if (!frames.isEmpty()) {
          int index = random.nextInt(frames.size());
          if (first(index)) {
            deliver(index);
          }
        } else if (mayDial(0) && mayDial(1)) {
          dial(random.nextInt(2));
        } else {
          break;
        }
      }
      assertThat(frames).as(story.toString()).isEmpty();
      assertThat(connected[0]).as(story.toString()).isNotNull().isSameAs(connected[1]);
      assertThat(connectedNumber[0]).as(story.toString()).isEqualTo(connectedNumber[1]);
      assertThat(connected[0].open).as(story.toString()).isTrue();
    }
  }

  @Test
  void randomOrdersEndInOneConnection() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int run = 0; run < 20_000; run++) {
      World world = new World();
      for (int step = random.nextInt(30); step > 0; step--) {
        int node = random.nextInt(2);
        switch (random.nextInt(4)) {
          case 0 -> {
            if (world.mayDial(node)) {
              world.dial(node);
            }
          }
          case 1 -> {
            if (random.nextInt(4) == 0) {
              world.close(world.connected[node]); // a connection is lost
            }
          }
          default -> {
            if (!world.frames.isEmpty()) {
              int index = random.nextInt(world.frames.size());
              if (world.first(index)) {
                world.deliver(index);
              }
            }
          }
        }
      }
      world.settle(random);
    }
  }

  /** Both dial; then every order of what follows. */
  @Test
  void allOrdersOfTwoDialsEndInOneConnection() {
    int[] count = new int[1];
    explore(new ArrayList<>(), count);
    assertThat(count[0]).isGreaterThan(10);
  }

  private static void explore(List<Integer> choices, int[] count) {
    World world = new World();
    world.dial(0);
    world.dial(1);
    for (int choice : choices) {
      world.deliver(choice);
    }
    if (world.frames.isEmpty() || choices.size() > 12) {
      count[0]++;
      world.settle(new Random(1));
      return;
    }
    for (int i = 0; i < world.frames.size(); i++) {
      if (world.first(i)) {
        List<Integer> more = new ArrayList<>(choices);
        more.add(i);
        explore(more, count);
      }
    }
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
