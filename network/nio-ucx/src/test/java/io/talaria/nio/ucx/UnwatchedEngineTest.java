// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import io.talaria.nio.ucx.binding.UcxBinding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The kernel refuses to watch an engine's descriptor, here because it stands in the set already:
 * the attempt fails, or goes on without being watched, and the next one is not taken for done.
 */
@Timeout(60)
class UnwatchedEngineTest {
  private Variant variant;
  private EventSet events;
  private UcxReadySet readySet;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    variant = new Variant();
    events = new EventSet(variant.transport.binding());
    readySet = new UcxReadySet(variant.transport, events);
  }

  @AfterEach
  void close() {
    if (variant != null) {
      readySet.close();
      variant.close();
    }
  }

  private boolean watches(Engine engine) {
    return !events.add(engine); // the kernel refuses a second time
  }

  @Test
  void aReadySetThatCouldNotWatchAnEngineTriesAgain() throws Exception {
    Engine engine = variant.transport.takeEngine();
    assertThat(events.add(engine)).isTrue();
    assertThat(readySet.add(engine)).isFalse();
    events.remove(engine);
    assertThat(readySet.add(engine)).isTrue();
    assertThat(watches(engine)).isTrue();
    readySet.remove(engine);
    variant.transport.giveBack(engine);
  }

  @Test
  void anOfferWithoutAnEngineIsRefusedAndTheNextIsNot() throws Exception {
    Engine engine = variant.transport.takeEngine();
    assertThat(events.add(engine)).isTrue();
    variant.transport.giveBack(engine); // so that the ready set gets it
    assertThatThrownBy(() -> variant.transport.offer(variant.hostilePeer, readySet))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LIMIT));
    events.remove(engine);
    Upgrade offer = variant.transport.offer(variant.hostilePeer, readySet);
    assertThat(((UcxStream) offer.stream()).engine()).isSameAs(engine);
    assertThat(watches(engine)).isTrue();
    offer.cancel(Reason.CLOSED_EARLY);
  }

  @Test
  void aStreamWhoseEngineAReadySetCannotWatchGoesOnWithoutAReadySet() throws Exception {
    Variant.Hostile peer = variant.new Hostile();
    peer.begin();
    Engine engine = peer.stream.engine();
    assertThat(events.add(engine)).isTrue();
    peer.stream.moveTo(readySet);
    assertThat(peer.stream.watch(TransportStream.READ)).isTrue();
    peer.stream(Variant.longs(1));
    variant.until(() -> peer.stream.readiness(TransportStream.READ) != 0);
    assertThat(peer.read()).isEqualTo(Long.BYTES);
    events.remove(engine);
    peer.stream.moveTo(readySet);
    assertThat(watches(engine)).isTrue();
    peer.end();
  }

  @Test
  void whoFallsAsleepAtAnEngineThatTheProgressThreadCannotWatchIsLookedAfter() throws Exception {
    UcxBinding binding = Started.binding();
    ProgressThread progressThread = new ProgressThread(binding);
    Engine engine = new Engine(binding, progressThread);
    assertThat(progressThread.events().add(engine)).isTrue();
    engine.enter();
    engine.awaiting(1);
    engine.fallAsleep();
    assertThat(engine.service()).isEqualTo(Engine.Need.SOON);
    progressThread.events().remove(engine);
    engine.fallAsleep();
    assertThat(progressThread.events().add(engine)).as("watched now").isFalse();
    engine.exit();
    engine.worker().close();
  }
}
