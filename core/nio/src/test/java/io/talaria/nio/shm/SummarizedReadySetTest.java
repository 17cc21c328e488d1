// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a selector is told if it reads summaries, as one with thousands of connections does. */
class SummarizedReadySetTest extends ShmReadySetTest {
  @Override
  int summarizedFrom() {
    return 1;
  }

  private ShmReadySet readySetOf(Connection... connections) {
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    for (Connection connection : connections) {
      connection.server.stream.moveTo(readySet);
    }
    assertThat(drain(readySet)).isEmpty(); // the look at all bits
    return readySet;
  }

  @Test
  void eachLookFindsWhatIsNew() throws Exception {
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < 130; i++) { // three words
      connections.add(pair.connect());
    }
    ShmReadySet readySet = readySetOf(connections.toArray(new Connection[0]));
    for (int round = 0; round < 3; round++) {
      for (int step : new int[] {1, 7, 64, 129}) {
        Set<TransportStream> expected = new HashSet<>();
        for (int i = 0; i < connections.size(); i += step) {
          Connection each = connections.get(i);
          assertThat(each.server.stream.watch(TransportStream.READ)).isTrue();
          writeTo(each.client);
          expected.add(each.server.stream);
        }
        assertThat(drain(readySet)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(drain(readySet)).isEmpty();
        for (int i = 0; i < connections.size(); i += step) {
          readAll(connections.get(i).server);
        }
      }
    }
  }

  @Test
  void aStreamThatComesBackBringsWhatWasHintedElsewhere() throws Exception {
    Connection a = pair.connect();
    ShmReadySet readySet = readySetOf(a);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    writeTo(a.client);
    pair.dialled.transport.summarizedFrom = Integer.MAX_VALUE;
    ShmReadySet reader = (ShmReadySet) pair.dialled.transport.openReadySet(); // reads all words
    a.server.stream.moveTo(reader);
    a.server.stream.moveTo(null);
    pair.dialled.transport.summarizedFrom = 1;
    assertThat(drain(readySet)).as("not its own any more").isEmpty(); // and the summary is clear
    a.server.stream.moveTo(readySet);

    assertThat(drain(readySet)).as("after it has come back").containsExactly(a.server.stream);
  }

  @Test
  void aLimitedLookLeavesTheRestToTheNext() throws Exception {
    Connection[] connections = new Connection[200];
    for (int i = 0; i < connections.length; i++) {
      connections[i] = pair.connect();
    }
    ShmReadySet readySet = readySetOf(connections);
    for (Connection each : connections) {
      assertThat(each.server.stream.watch(TransportStream.READ)).isTrue();
      writeTo(each.client);
    }
    Set<TransportStream> found = new HashSet<>();
    int looks = 0;
    while (found.size() < connections.length && looks++ < 10) {
      readySet.drainReady(found::add, 1);
    }
    assertThat(found).hasSize(connections.length);
    assertThat(looks).as("looks of a word each").isEqualTo(4);
  }
}
