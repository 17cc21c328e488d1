// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program of two sides, both in this process: {@link TwoMain} has one in each. */
@ExtendWith(Provider.class)
@Timeout(600)
class TwoSidesTest {
  private static final long BYTES = Provider.isDevice() ? 1 << 20 : 1 << 25;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyByteArrivesByEachWay(boolean cm) throws Exception {
    NetOptions options = (cm ? Pair.cm() : Pair.options()).build();
    try (VerbsNode near = VerbsNode.open(options);
        VerbsNode far = VerbsNode.open(options)) {
      TwoSides.Server server = new TwoSides.Server(far);
      InetAddress host = cm ? Provider.address() : InetAddress.getLoopbackAddress();
      InetSocketAddress address = far.listen(new InetSocketAddress(host, 0), server);
      TwoSides.Client client = new TwoSides.Client();
      Connection connection = near.connect(address, client);
      assertThat(client.run(near, connection, BYTES))
          .startsWith(BYTES + " bytes in " + BYTES / 4096 + " messages")
          .contains("every checksum right");
      server.awaitEnd();
    }
  }
}
