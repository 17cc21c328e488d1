// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import java.util.Map;
import java.util.SplittableRandom;

/** The records. */
final class Records {
  /** How much there is to consume, about; consumers begin again at its end. */
  private static final int FILL_BYTES = 64 << 20;

  private Records() {}

  /** The value of all records of a length: does not compress, should anybody try. */
  static byte[] value(int sizeBytes) {
    byte[] value = new byte[sizeBytes];
    new SplittableRandom(sizeBytes).nextBytes(value);
    return value;
  }

  /** Puts into the topic what consumers are to read. */
  static void fill(Map<String, Object> broker, int sizeBytes) throws Exception {
    try (RecordProducer producer = new RecordProducer(broker, sizeBytes)) {
      producer.send(Math.max(1, FILL_BYTES / sizeBytes));
    }
  }
}
