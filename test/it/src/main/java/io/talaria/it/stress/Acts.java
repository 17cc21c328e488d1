// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** Does something legal to something, again and again, on a thread of its own. */
final class Acts {
  private final Node node;
  private final Random chance;
  private final int everyUs;

  Acts(Node node, long seed, int everyUs) {
    this.node = node;
    this.chance = new Random(seed);
    this.everyUs = everyUs;
  }

  void run() throws InterruptedException {
    while (!node.stopping()) {
      long us = 1 + (long) (-Math.log(1 - chance.nextDouble()) * everyUs);
      Thread.sleep(us / 1000, (int) (us % 1000) * 1000);
      if (node.quiet()) {
        CountDownLatch done = new CountDownLatch(1);
        node.turns.want(
            this,
            () -> {
              act();
              node.turns.done(this);
              done.countDown();
            });
        done.await();
      } else {
        act();
      }
    }
  }

  private void act() {
    if (chance.nextInt(4) == 0) {
      toSelector(node.anyLoop(chance));
    } else {
      End end = node.anyEnd(chance);
      if (end != null) {
        to(end);
      }
    }
  }

  private void toSelector(Loop loop) {
    switch (chance.nextInt(40)) {
      case 0 -> {
        node.count("closedSelectors");
        loop.closeSelector();
      }
      case 1, 2, 3 -> {
        node.count("interruptedSelects");
        loop.interrupt();
      }
      default -> {
        node.count("wakeups");
        loop.wakeup();
      }
    }
  }

  private void to(End end) {
    switch (chance.nextInt(24)) {
      case 0, 1 -> {
        node.count("closes");
        end.close(chance.nextInt(6) == 0);
      }
      case 2 -> {
        node.count("shutdowns");
        end.shutdown(chance.nextBoolean(), chance.nextBoolean());
      }
      case 3 -> {
        node.count("interrupts");
        end.interrupt();
      }
      case 4, 5, 6 -> {
        node.count("leaves");
        end.leave();
      }
      case 7, 8, 9, 10 -> {
        node.count("moves");
        end.move();
      }
      default -> {
        node.count("flicks");
        end.flick();
      }
    }
  }
}
