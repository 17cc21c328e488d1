// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Consumer;

/** A selector and the loop around it. Confined to one thread, but for {@link #wakeup}. */
final class EventLoop implements AutoCloseable {
  /** What is attached to a key. */
  interface Handler {
    /** Called when the key has been selected. */
    void ready(SelectionKey key) throws IOException;
  }

  private final Selector selector;
  private final WaitStrategy waiting;
  private final Consumer<SelectionKey> consumer = this::consume;

  EventLoop(WaitStrategy waiting) throws IOException {
    this.selector = Selector.open();
    this.waiting = waiting;
  }

  Selector selector() {
    return selector;
  }

  void wakeup() {
    selector.wakeup();
  }

  /** Selects once, in the manner this loop waits, and handles what is ready. */
  void turn() throws IOException {
    switch (waiting) {
      case SELECT_NOW -> handle(selector.selectNow());
      case SELECT -> handle(selector.select());
      case SELECT_NOW_CONSUMER -> accept();
      case BLOCKING -> throw new IllegalStateException("no event loop in blocking mode");
    }
  }

  private void handle(int selected) throws IOException {
    if (selected == 0) {
      return;
    }
    Set<SelectionKey> keys = selector.selectedKeys();
    for (Iterator<SelectionKey> it = keys.iterator(); it.hasNext(); ) {
      SelectionKey key = it.next();
      it.remove();
      ((Handler) key.attachment()).ready(key);
    }
  }

  private void accept() throws IOException {
    try {
      selector.selectNow(consumer);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void consume(SelectionKey key) {
    try {
      ((Handler) key.attachment()).ready(key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    selector.close();
  }
}
