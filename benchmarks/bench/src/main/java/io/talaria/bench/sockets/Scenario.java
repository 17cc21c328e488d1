// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.talaria.cli.harness.Units;

/**
 * One thing to measure.
 *
 * @param pattern its pattern
 * @param waiting how both sides wait
 * @param sizeBytes how long a message is
 * @param connections how many connections there are
 * @param flight how echoes are spread over them; of no meaning for other patterns
 * @param oneCore whether both sides share one core
 */
record Scenario(
    Pattern pattern,
    WaitStrategy waiting,
    int sizeBytes,
    int connections,
    Flight flight,
    boolean oneCore) {

  /** Each side has a core of its own, if they are pinned at all. */
  Scenario(Pattern pattern, WaitStrategy waiting, int sizeBytes, int connections, Flight flight) {
    this(pattern, waiting, sizeBytes, connections, flight, false);
  }

  /** Returns a name that is never given twice, for machines. */
  @JsonIgnore
  String id() {
    StringBuilder id = new StringBuilder(pattern.word());
    if (pattern == Pattern.ALLOC || pattern == Pattern.WAKE || pattern == Pattern.COLD) {
      id.append('/').append(waiting.word());
    }
    id.append('/').append(sizeBytes).append('B');
    if (connections > 1) {
      id.append('/').append(connections).append(flight == Flight.ALL ? "-in-flight" : "-conn");
    }
    return id.append(oneCore ? "/one-core" : "").toString();
  }

  /** Returns a name to be displayed. */
  @JsonIgnore
  String label() {
    String size = Units.bytes(sizeBytes);
    return switch (pattern) {
      case BLOCKING, SELECT_NOW, SELECT -> size + " round trip, " + waiting.word() + spread();
      case WAKE -> size + " wake-up, " + waiting.word() + cores();
      case COLD -> size + " just started, " + waiting.word() + cores();
      case ONEWAY -> size + " one way" + (connections > 1 ? ", " + connections + " conn." : "");
      case IDLE -> connections + " idle connections";
      case MANY -> connections + " connections in turn, " + waiting.word();
      case SCALE -> connections + " connections";
      case ALLOC -> "allocation, " + waiting.word();
    };
  }

  private String spread() {
    if (connections == 1) {
      return "";
    }
    return ", " + connections + (flight == Flight.ALL ? " in flight" : " conn. in turn");
  }

  private String cores() {
    return oneCore ? ", one core" : ", a core each";
  }
}
