// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Command;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.nio.Reason;
import io.talaria.testsupport.ChildProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * {@code doctor --connect} and {@code --pid} beside two processes: what differs, and what to do.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class NotAcceleratedTest {
  @RegisterExtension final Lab lab = new Lab();

  private record Answer(int status, String text) {}

  private Answer doctor(String... question) throws Exception {
    List<String> words = new ArrayList<>(List.of("doctor", "--dir", lab.talariaDir().toString()));
    words.addAll(List.of(question));
    ChildProcess ended =
        ChildProcess.command(Command.words(words.toArray(new String[0])).toArray())
            .oneOutput()
            .run(Duration.ofMinutes(2));
    return new Answer(ended.exitStatus(), ended.outText());
  }

  private static String pid(Exchange exchange) {
    return Long.toString(exchange.client().pid());
  }

  @Test
  void nothingIsAmissWhereAllIsAccelerated() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH).run().expectTransport();
    for (Answer answer :
        List.of(
            doctor("--connect", "localhost:" + exchange.port()), doctor("--pid", pid(exchange)))) {
      assertThat(answer.text()).contains("same-host", "1 accelerated, 0 not accelerated.");
      assertThat(answer.status()).as(answer.text()).isZero();
    }
    exchange.end();
  }

  @Test
  void directoriesThatDifferAreNamed() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", lab.scratch().resolve("other"));
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.PEER_NOT_ACCELERATED);
    String differ =
        "alaria.dir is "
            + lab.talariaDir()
            + " in the client and "
            + lab.scratch().resolve("other")
            + " in the server";
    for (Answer answer :
        List.of(
            doctor("--connect", "127.0.0.1:" + exchange.port()), doctor("--pid", pid(exchange)))) {
      assertThat(answer.text())
          .contains(
              differ, "→ Give both the same talaria.dir.", "0 accelerated, 1 not accelerated.");
      assertThat(answer.status()).isEqualTo(1);
    }
    exchange.end();
  }

  @Test
  void placesOfSharedMemoryThatDifferAreNamed() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.shm.dir", lab.scratch().resolve("other"));
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.OTHER_SHM_DIR, Reason.REFUSED);
    assertThat(doctor("--connect", "127.0.0.1:" + exchange.port()).text())
        .contains("alaria.shm.dir is " + lab.shmDir() + " in the client and ");
    exchange.end();
  }

  @Test
  void aPortThatTheServerLeavesOutIsNamed() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.ports.except", "1-65535");
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.PEER_NOT_ACCELERATED);
    assertThat(exchange.server().errorText())
        .contains("NIO connections but those of the ports 1-65535 use shared memory");
    assertThat(doctor("--connect", "127.0.0.1:" + exchange.port()).text())
        .contains("not announced: port-left-out. " + Reason.PORT_LEFT_OUT.sentence());
    exchange.end();
  }

  @Test
  void theSideWithoutTheAgentIsNamed() throws Exception {
    for (Pair pair : Pair.coexisting()) {
      if (pair.client().accelerated() == pair.server().accelerated()) {
        continue;
      }
      pair.assume();
      Exchange exchange = new Exchange(lab, pair);
      exchange.run();
      String without = pair.client().accelerated() ? "server" : "client";
      long pid = pair.client().accelerated() ? exchange.server().pid() : exchange.client().pid();
      Answer answer = doctor("--connect", "127.0.0.1:" + exchange.port());
      assertThat(answer.text())
          .containsIgnoringCase(
              "the " + without + ", pid " + pid + " (java), runs without Talaria");
      assertThat(answer.status()).isEqualTo(1);
      exchange.end();
    }
  }
}
