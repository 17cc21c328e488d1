// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that has run out of descriptors negotiates as soon as it has some. */
@Timeout(60)
class LateStartTest {
  private static final int PORT = 7032;

  @TempDir Path dir;

  @Test
  void whatWaitedForDescriptorsIsDoneWithTheNextConnection() throws Exception {
    ScarceProvider provider = new ScarceProvider();
    Node node = new Node(dir.resolve("run"), new FakeTransport(), provider);
    List<Reason> listener = new CopyOnWriteArrayList<>();
    Announcement announcement =
        node.negotiator.announce(new InetSocketAddress("127.0.0.1", PORT), listener::add);
    FakeChannel early = new FakeChannel(FakeChannel.key(1, PORT + 1));
    node.negotiator.connected(early);
    assertThat(listener).containsExactly(Reason.LIMIT);
    assertThat(early.reason).isEqualTo(Reason.LIMIT);
    assertThat(node.log).isNotEmpty().allMatch(line -> line.startsWith("limit: no selector"));

    provider.enough = true;
    FakeChannel late = new FakeChannel(FakeChannel.key(2, PORT + 1));
    node.negotiator.connected(late);

    late.awaitPlain(Reason.PEER_NOT_ACCELERATED);
    early.awaitPlain(Reason.PEER_NOT_ACCELERATED);
    assertThat(listener).containsExactly(Reason.LIMIT, Reason.ANNOUNCED);
    node.negotiator.retire(announcement);
  }
}
