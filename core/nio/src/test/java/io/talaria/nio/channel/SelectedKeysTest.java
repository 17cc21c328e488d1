// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.SelectionKey;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The set is emptied, as by a close of its selector, while another thread reads it. */
@Timeout(60)
class SelectedKeysTest {
  private static final int ROUNDS = 100_000;
  private static final int KEYS = 40;

  private final SelectedKeys keys = new SelectedKeys();

  private void fill() {
    keys.clear();
    for (int i = 0; i < KEYS; i++) {
      assertThat(keys.select(new TalariaSelectionKey(null, null))).isTrue();
    }
  }

  private void removeAll() {
    try {
      Iterator<SelectionKey> selected = keys.iterator();
      while (selected.hasNext()) {
        selected.next();
        selected.remove();
      }
    } catch (ConcurrentModificationException | NoSuchElementException e) {
      // What sets of the JDK throw.
    }
  }

  @Test
  void whoeverReadsAndWhoeverClosesGetWhatTheJdkWouldThrow() throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread closer =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < ROUNDS; i++) {
                  together.await();
                  for (int pause = i % KEYS; pause > 0; pause--) {
                    Thread.onSpinWait();
                  }
                  keys.clear();
                  together.await();
                }
              } catch (Throwable e) {
                failure.set(e);
                together.reset();
              }
            },
            "closer");
    closer.setDaemon(true);
    closer.start();
    for (int i = 0; i < ROUNDS && failure.get() == null; i++) {
      fill();
      together.await();
      removeAll();
      together.await();
    }
    closer.join();
    assertThat(failure.get()).isNull();
  }
}
