// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What ranks have said is passed on, also if they have ended before it is read. */
@Timeout(180)
class ControlServerTest {
  private static final int RANKS = 100;
  private static final long LIMIT_MS = 60_000;

  /** Names of the events, in the order of coming. */
  private final List<String> told = new CopyOnWriteArrayList<>();

  private ControlServer server(Path directory) throws Exception {
    Object events =
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Host.Events.class},
            (proxy, event, arguments) -> {
              told.add(event.getName());
              return null;
            });
    return new ControlServer(directory, RANKS, "none", (Host.Events) events);
  }

  @Test
  void ranksThatEndAtOnceAreHeardToTheirEnd(@TempDir Path directory) throws Exception {
    Path control = directory.resolve(JobDirectory.CONTROL);
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(control);
    try (ControlServer server = server(directory)) {
      for (int rank = 0; rank < RANKS; rank++) {
        CompletableFuture<Void> end = server.lastWords(rank, true, LIMIT_MS);
        try (SocketChannel link = SocketChannel.open(address)) {
          String says = "hello " + rank + " 1\ninit\nfinalized\n";
          ByteBuffer bytes = ByteBuffer.wrap(says.getBytes(StandardCharsets.UTF_8));
          assertThat(link.write(bytes)).isEqualTo(says.length());
          assertThat(end).isNotDone();
        }
        end.join();
        assertThat(told).as("of rank %d", rank).containsExactly("hello", "init", "finalized");
        assertThat(server.lastWords(rank, false, LIMIT_MS)).isDone();
        told.clear();
      }
    }
  }

  @Test
  void whoMayHaveEndedWithoutAWordIsNotWaitedFor(@TempDir Path directory) throws Exception {
    try (ControlServer server = server(directory)) {
      assertThat(server.lastWords(0, false, LIMIT_MS)).isDone();
    }
  }
}
