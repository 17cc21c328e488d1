// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Sink;
import io.talaria.it.programs.WriteExit;
import io.talaria.nio.NioTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A program that writes and is gone at once has lost nothing. */
@Tag("transport")
class WriteExitTest {
  /** What loopback TCP surely takes while nobody reads. */
  private static final int LATE = 1 << 20;

  private static final List<Integer> SIZES = List.of(1, 100_000, LATE, 16 << 20);

  @RegisterExtension final Lab lab = new Lab();

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Pair pair : Pair.noneAndBoth()) {
      int number = 0;
      for (String leave : List.of("close-exit", "close-halt", "exit", "halt")) {
        for (int bytes : sizes(pair, cases.size())) {
          String role = number % 2 == 0 ? "client" : "server";
          String io = number / 2 % 2 == 0 ? "blocking" : "selector";
          cases.add(Arguments.of(pair, leave, bytes, role, io, number % 3 == 0));
          number++;
        }
        number++;
      }
    }
    return cases;
  }

  private static List<Integer> sizes(Pair pair, int casesBefore) {
    if (!pair.accelerated()) {
      return List.of(LATE);
    }
    boolean even = casesBefore / 2 % 2 == 0;
    return !Settings.fewPairs() ? SIZES : even ? List.of(1, 16 << 20) : List.of(100_000, LATE);
  }

  /**
   * Up to what loopback TCP takes unread, the reader begins only when the writer is dead; a longer
   * stream is read while it is written.
   */
  @ParameterizedTest(
      name = "{0}, {1} after {2} bytes, writer is the {3}, {4}, switched before: {5}")
  @MethodSource("cases")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void losesNothing(Pair pair, String leave, int bytes, String writerRole, String io, boolean warm)
      throws Exception {
    pair.assume();
    // A process that is gone without its hooks loses what UCX could not take yet: docs/nio-ucx.md.
    assumeTrue(
        Settings.fast() != NioTransport.UCX || !leave.endsWith("halt"), "a killed writer loses");
    boolean late = bytes <= LATE;
    boolean writerConnects = writerRole.equals("client");
    ChildSpec write =
        lab.child(writerConnects ? pair.client() : pair.server(), WriteExit.class)
            .arg("leave", leave)
            .arg("io", io);
    ChildSpec read =
        lab.child(writerConnects ? pair.server() : pair.client(), Sink.class)
            .arg("hold", late ? "yes" : "no")
            .arg("io", io);
    ChildSpec listen = writerConnects ? read : write;
    ChildSpec connect = writerConnects ? write : read;
    for (ChildSpec side : List.of(listen, connect)) {
      side.arg("min", bytes).arg("max", bytes);
    }
    Child server = listen.arg("role", "server").start();
    Child client = connect.arg("port", server.await("listening").port()).start();
    Child writer = writerConnects ? client : server;
    Child reader = writerConnects ? server : client;
    if (warm) {
      Transports.use(pair, server, client, "greet", "greeted");
    }
    reader.send("go");
    writer.send("go");
    if (late) {
      writer.awaitExit(0);
      reader.send("read");
    }
    Event drained = reader.await("drained");
    assertThat(drained.number("received")).isEqualTo(bytes);
    assertThat(drained.text("end")).isEqualTo("eof");
    writer.awaitExit(0);
    lab.expectLeftovers();
    lab.stop(reader);
  }
}
