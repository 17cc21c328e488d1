// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.util.Objects;

/**
 * What a counter of a port is: its meaning, not its value. Immutable.
 *
 * <p>A counter of an InfiniBand port stops at its maximum and stays there («stuck») until it is
 * reset; one of a network interface begins again at 0. See {@link Difference}.
 *
 * @param name as its source calls it
 * @param source where it is read
 * @param kind what it is about
 * @param unit its unit, after the factor
 * @param factor by what a value is multiplied to be in the unit: 4 for the data of InfiniBand
 *     ports, which count in words of four octets whatever the width of the link (IBTA,
 *     PortXmitData); else 1
 * @param traffic whether it has all that the port sent or received
 * @param part whether it is a part of another counter of the port, which it must not be added to
 * @param bits how many bits it has, at whose maximum it stops; 0 if that is not told
 */
public record Counter(
    String name,
    CounterSource source,
    CounterKind kind,
    CounterUnit unit,
    int factor,
    Traffic traffic,
    boolean part,
    int bits) {

  /** Refuses null, and bits that are none. */
  public Counter {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(source, "source");
    if (bits < 0 || bits > Long.SIZE) {
      throw new IllegalArgumentException("bits " + bits + " is not within 0 and 64");
    }
  }

  /**
   * What is known about the counter of that name.
   *
   * @param source where it is read
   * @param name its name there
   * @return its meaning; {@link CounterKind#OTHER} if it is not known
   */
  public static Counter named(CounterSource source, String name) {
    return KnownCounters.find(source, name);
  }

  /**
   * Its highest value as an unsigned number.
   *
   * @return the maximum; 0 if its width is not told
   */
  public long maximum() {
    return bits == 0 ? 0 : -1L >>> (Long.SIZE - bits);
  }
}
