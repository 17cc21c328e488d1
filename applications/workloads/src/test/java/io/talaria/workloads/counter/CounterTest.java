// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.TalariaCommand;
import java.net.Socket;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example counter from end to end. */
@Timeout(240)
class CounterTest {
  @Test
  void countsOnTheJdksSockets() throws Exception {
    assertThat(
            TalariaCommand.run("example", "counter", "--transport=tcp", "-m", "20000").well().out())
        .contains("20,000 numbers each way, all in order, in ", "on the JDK's sockets");
  }

  @Test
  void numbersAreWrittenAlikeInAllLocales() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      TalariaCommand.Ended ended =
          TalariaCommand.run("example", "counter", "--transport=tcp", "-m", "2000").well();
      assertThat(ended.out()).startsWith("2,000 numbers each way");
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void countsOnTalaria() throws Exception {
    assertThat(TalariaCommand.run("example", "counter", "-m", "20000").well().out())
        .contains("20,000 numbers each way, all in order, in ", "on Talaria (shm)");
  }

  @Test
  void aClientLosesItsServer() throws Exception {
    try (TalariaCommand server = TalariaCommand.server("example", "counter")) {
      String address = server.address();
      assertThat(
              TalariaCommand.run("example", "counter", "--remote", address, "-m", "5").well().out())
          .startsWith("5 numbers each way, all in order");
      try (TalariaCommand client =
          TalariaCommand.start("example", "counter", "--remote", address, "-m", "1000000000000")) {
        client.awaitError(" of 1,000,000,000,000");
        server.kill();
        client.ended().failed(1, "talaria: lost the connection to " + address + " after ");
      }
    }
  }

  @Test
  void aClientOfTalariaWithAPlainServerIsNotAccelerated() throws Exception {
    try (TalariaCommand server = TalariaCommand.server("example", "counter", "--transport=tcp")) {
      TalariaCommand.run("example", "counter", "--remote", server.address(), "-m", "5")
          .failed(1, "talaria: NOT ACCELERATED: ", "1 tcp (peer-not-accelerated)");
    }
  }

  @Test
  void talariaSwitchedOffIsToldAsSuch() throws Exception {
    TalariaCommand.run("example", "counter", "--java-option", "-Dtalaria.enabled=false")
        .failed(1, "the agent did not switch Talaria on");
  }

  @Test
  void nobodyListens() throws Exception {
    try (Socket nobody = TalariaCommand.nobody()) {
      String address = "127.0.0.1:" + nobody.getLocalPort();
      TalariaCommand.run("example", "counter", "--transport=tcp", "--remote", address)
          .failed(1, "talaria: cannot connect to " + address + ": ", "--listen");
    }
  }

  @Test
  void aPortThatIsTakenIsToldAsSuch() throws Exception {
    try (Socket taken = TalariaCommand.nobody()) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      TalariaCommand.run("example", "counter", "--transport=tcp", "--listen", address)
          .failed(1, "talaria: cannot listen on " + address + ": ", "--listen");
    }
  }
}
