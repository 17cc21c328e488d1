// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Pinning;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client whose server is killed does not wait for it. */
@Timeout(120)
class DeadServerTest {
  @ParameterizedTest
  @EnumSource(names = {"TAG", "STREAM_DATA", "PUT", "MESSAGE"})
  void theClientIsToldThatTheServerHasGone(Operation operation) throws Exception {
    NeedsUcx.check();
    UcxPeer.Job job = new UcxPeer.Job(true, "127.0.0.1", 0, "secret", Pinning.NONE);
    try (ChildJvm server = Duo.start(job, List.of())) {
      int port = Duo.awaitReady(server).port();
      Client.Place place =
          new Client.Place(new InetSocketAddress("127.0.0.1", port), "secret", "posix,self", true);
      try (Client client = Client.open(place, operation, Kind.LATENCY, 16)) {
        client.once();
        ProcessHandle.of(server.pid()).orElseThrow().destroyForcibly();
        assertThatThrownBy(
                () -> {
                  while (true) {
                    client.once();
                  }
                })
            .isInstanceOf(PeerLostException.class)
            .hasMessageMatching("the server (has gone|is lost: .*)");
      }
    }
  }
}
