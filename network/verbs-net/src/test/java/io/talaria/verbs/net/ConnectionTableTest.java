// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.verbs.QueuePair;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class ConnectionTableTest {
  /** A connection of the setup's queue pair, which no thread of the node knows. */
  private static Connection connection(VerbsNode node, VerbsNode.Setup setup) {
    Offer peer = new Offer(1, setup.address(), 4096, 4096, 16, 1, 1);
    return new Connection(
        node, setup.place(), (c, m) -> {}, setup.queuePair(), peer, () -> {}, null);
  }

  @Test
  void aNumberThatIsGivenAgainIsThatOfTheNewConnection() throws Exception {
    try (VerbsNode node = VerbsNode.open(Pair.options().build())) {
      VerbsNode.Setup one = node.setUp(QueuePair.Builder::open);
      VerbsNode.Setup two = node.setUp(QueuePair.Builder::open);
      try {
        ConnectionTable table = new ConnectionTable();
        Connection other = connection(node, two);
        table.add(other);
        Connection before = connection(node, one);
        table.add(before);
        assertThat(table.find(before.number)).isSameAs(before);
        for (int i = 0; i < 100; i++) {
          Connection after = connection(node, one);
          assertThat(after.number).isEqualTo(before.number);
          table.add(after);
          assertThat(table.find(after.number)).as("round %d", i).isSameAs(after);
          table.remove(before);
          assertThat(table.find(after.number)).as("round %d", i).isSameAs(after);
          before = after;
        }
        table.remove(before);
        assertThat(table.find(before.number)).isNull();
        assertThat(table.find(other.number)).isSameAs(other);
        table.remove(other);
        assertThat(table.find(other.number)).isNull();
      } finally {
        node.abandon(one);
        node.abandon(two);
      }
    }
  }
}
