// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which engines are probed, and when those are for which UCX refuses a probe or its worker. */
@Timeout(60)
class QueueCheckTest {
  @Test
  void aProbeThatIsRefusedIsTriedAgainAndKeepsNoOtherBack() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    UcxBinding binding = Started.binding();
    ProgressThread progressThread = new ProgressThread(binding);
    Engine first = new Engine(binding, progressThread);
    Engine second = new Engine(binding, progressThread);
    List<Engine> engines = List.of(first, second);
    AtomicInteger refusals = new AtomicInteger();
    FailingBinding failing = new FailingBinding(binding);
    failing.on(
        "connect",
        call -> {
          if (refusals.getAndIncrement() == 0) {
            throw new BindingException("not this time", null);
          }
          return call.proceed();
        });
    QueueCheck check = new QueueCheck(failing.binding);
    check.request();
    assertThat(check.look(engines)).as("when again").isNotEqualTo(Engine.Need.NOTHING);
    assertThat(refusals).hasValue(2);
    until(() -> look(check, engines) && probe(second) == 1);
    until(() -> look(check, engines) && probe(first) == 1);
    until(() -> check.look(engines) == Engine.Need.NOTHING);
    assertThat(refusals).hasValue(3);
    first.worker().close();
    second.worker().close();
  }

  /** Returns what the first look said of the next; a probe may have gone at once. */
  private static Engine.Need assertProbed(FailingBinding failing) throws Exception {
    UcxBinding binding = Started.binding();
    Engine engine = new Engine(binding, new ProgressThread(binding));
    List<Engine> engines = List.of(engine);
    QueueCheck check = new QueueCheck(failing.binding);
    check.request();
    Engine.Need next = check.look(engines);
    until(() -> look(check, engines) && probe(engine) == 1);
    engine.worker().close();
    return next;
  }

  /** What JUCX gives with rules, or with such a {@code UCX_TLS}. */
  @ParameterizedTest
  @ValueSource(strings = {"", "all", "^ib"})
  void aQueueIsCheckedThoughTheBindingDoesNotKnowTheTransports(String known) throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    FailingBinding failing = new FailingBinding(Started.binding());
    failing.on("tellsTransports", call -> false);
    failing.on("transports", call -> known.isEmpty() ? List.of() : List.of(known));
    Engine.Need unused = assertProbed(failing);
  }

  @Test
  void aWorkerThatIsRefusedIsTriedAgain() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    FailingBinding failing = new FailingBinding(Started.binding());
    AtomicInteger refusals = new AtomicInteger();
    failing.on(
        "openWorker",
        call -> {
          if (refusals.getAndIncrement() == 0) {
            throw new BindingException("no descriptor, says the test", null);
          }
          return call.proceed();
        });
    assertThat(assertProbed(failing)).isEqualTo(Engine.Need.LATER);
    assertThat(refusals).hasValue(2);
  }

  private static boolean look(QueueCheck check, List<Engine> engines) {
    Engine.Need ignored = check.look(engines);
    return true;
  }

  private static long probe(Engine engine) {
    engine.enter();
    try {
      return engine.probe();
    } finally {
      engine.exit();
    }
  }
}
