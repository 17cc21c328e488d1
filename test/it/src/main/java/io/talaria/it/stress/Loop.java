// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import io.talaria.it.kit.Console;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A selector with its thread, which selects in all the ways there are. Any thread may call it. */
final class Loop {
  private static final int SHORT_MS = 3;
  private static final int LOOKS = 50;

  final int number;
  private final Node node;
  private final Random chance;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile Selector selector;

  Loop(Node node, int number, long seed) throws IOException {
    this.node = node;
    this.number = number;
    this.chance = new Random(seed);
    this.selector = Selector.open();
    this.thread = Console.daemon("loop-" + number, this::run);
  }

  /** What channels register with now. */
  Selector selector() {
    return selector;
  }

  void wakeup() {
    selector.wakeup();
  }

  boolean here() {
    return Thread.currentThread() == thread;
  }

  void execute(Runnable task) {
    tasks.add(task);
    wakeup();
  }

  /** Has the thread's select return, as it must. */
  void interrupt() {
    thread.interrupt();
  }

  /** Takes the selector away: everybody has to come to a new one. */
  void closeSelector() {
    try {
      selector.close();
    } catch (IOException e) {
      throw new IllegalStateException("a selector could not be closed", e);
    }
  }

  private void run() throws IOException {
    while (true) {
      try {
        select();
        Thread.interrupted();
        handleSelected();
      } catch (ClosedSelectorException
          | ConcurrentModificationException
          | NoSuchElementException e) {
        if (selector.isOpen()) {
          throw e;
        }
        selector = Selector.open(); // the set of selected keys was emptied while it was read
        node.reregister(this);
      }
      for (int queued = tasks.size();
          queued > 0;
          queued--) { // those of the tasks come after a select
        tasks.remove().run();
      }
    }
  }

  private void select() throws IOException {
    switch (node.quiet() ? 2 + 2 * chance.nextInt(3) : chance.nextInt(8)) {
      case 0 -> selector.selectNow();
      case 1 -> selector.select(1 + chance.nextInt(SHORT_MS));
      case 2 -> selector.select(this::handle);
      case 3 -> selector.select(this::handle, 1000);
      case 7 -> {
        for (int i = chance.nextInt(LOOKS); i > 0 && selector.selectNow() == 0; i--) {
          Thread.onSpinWait();
        }
      }
      default -> selector.select();
    }
  }

  private void handleSelected() {
    Iterator<SelectionKey> selected = selector.selectedKeys().iterator();
    while (selected.hasNext()) {
      SelectionKey key = selected.next();
      selected.remove();
      handle(key);
    }
  }

  private void handle(SelectionKey key) {
    try {
      ((Ready) key.attachment()).ready(key);
    } catch (CancelledKeyException e) {
      return; // another thread's doing
    }
  }

  /** Whose channel is registered. */
  interface Ready {
    /** The key was selected. On the loop's thread. */
    void ready(SelectionKey key);
  }
}
