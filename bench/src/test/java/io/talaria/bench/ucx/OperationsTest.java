// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every operation over real UCX. The end of each connection compares how many messages the client
 * has sent with how many the server has seen.
 */
@Timeout(120)
class OperationsTest {
  static Stream<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      for (Kind kind : Kind.values()) {
        for (int size : operation.isAtomic() ? List.of(4, 8) : List.of(8, 1_000, 1 << 20)) {
          cases.add(Arguments.of(operation, kind, size));
        }
      }
    }
    return cases.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyMessageArrives(Operation operation, Kind kind, int size) throws IOException {
    NeedsUcx.check();
    try (LocalServer server = new LocalServer();
        Client client = Client.open(server.place(), operation, kind, size)) {
      if (kind == Kind.LATENCY) {
        for (int i = 0; i < 30; i++) {
          client.once();
        }
        assertThat(client.operations()).isEqualTo(30);
      } else {
        client.many(100);
        client.many(100);
        assertThat(client.operations()).isEqualTo(200);
      }
      client.end();
    }
  }

  @Test
  void aServerServesOnAfterAClientThatWentAway() throws IOException {
    NeedsUcx.check();
    try (LocalServer server = new LocalServer()) {
      Client gone = Client.open(server.place(), Operation.TAG, Kind.LATENCY, 16);
      gone.once();
      gone.close();
      try (Client next = Client.open(server.place(), Operation.STREAM, Kind.LATENCY, 16)) {
        next.once();
        next.end();
      }
    }
  }

  @Test
  void severalConnectionsAtOnceShareNothing() throws Exception {
    NeedsUcx.check();
    try (LocalServer server = new LocalServer()) {
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Thread thread =
            new Thread(
                () -> {
                  try (Client client =
                      Client.open(server.place(), Operation.TAG, Kind.THROUGHPUT, 64)) {
                    client.many(500);
                    client.end();
                  } catch (IOException | RuntimeException e) {
                    synchronized (failures) {
                      failures.add(e);
                    }
                  }
                },
                "test-client-" + i);
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failures).isEmpty();
    }
  }
}
