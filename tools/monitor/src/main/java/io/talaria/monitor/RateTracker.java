// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes rates of the readings that come one after the other. For one thread at a time. */
public final class RateTracker {
  private final Map<PortId, Rates> last = new HashMap<>();

  /** Creates a tracker that has seen nothing. */
  public RateTracker() {}

  /**
   * Takes the next readings.
   *
   * @param readings one for each port that is there; those of others are forgotten
   * @return the rates since the readings before, in the same order
   */
  public List<Rates> update(List<Reading> readings) {
    List<Rates> all = new ArrayList<>(readings.size());
    Set<PortId> seen = new HashSet<>();
    for (Reading reading : readings) {
      all.add(update(reading));
      seen.add(reading.port().id());
    }
    last.keySet().retainAll(seen);
    return all;
  }

  /**
   * Takes the next reading of one port.
   *
   * @param reading the reading
   * @return the rates since the one before
   */
  public Rates update(Reading reading) {
    Rates before = last.get(reading.port().id());
    Rates now =
        before == null ? Rates.none(reading) : Rates.between(before.reading(), reading, before);
    last.put(reading.port().id(), now);
    return now;
  }
}
