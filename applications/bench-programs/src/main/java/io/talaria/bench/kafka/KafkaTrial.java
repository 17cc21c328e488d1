// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Trial;
import io.talaria.cli.harness.Units;
import java.util.Locale;

/**
 * One case of {@code bench kafka}.
 *
 * @param work what the client does
 * @param sizeBytes the length of a record's value
 */
record KafkaTrial(Work work, int sizeBytes) implements Trial {

  /** What the client does. */
  enum Work {
    /** Sends records. */
    PRODUCE,
    /** Polls records that are there already. */
    CONSUME;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What both sides are told.
   *
   * @param trial what
   * @param timing how long
   */
  record Job(KafkaTrial trial, Timing timing) {}

  @Override
  public Job job(Timing timing) {
    return new Job(this, timing);
  }

  @Override
  public String id() {
    return work + "/" + sizeBytes;
  }

  @Override
  public String label() {
    return work + " " + Units.bytes(sizeBytes);
  }

  /** One at least; how many more a client of Kafka opens is its own business. */
  @Override
  public int connections() {
    return 1;
  }
}
