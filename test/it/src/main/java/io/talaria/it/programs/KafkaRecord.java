// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * What the Kafka programs send; bytes in big-endian order.
 *
 * <pre>
 *   0           4            12                        n-4         n
 *   +-----------+------------+-------------------------+-----------+
 *   | partition | place      | 40 to 199 random bytes  | CRC-32C   |
 *   +-----------+------------+-------------------------+-----------+
 * </pre>
 */
final class KafkaRecord {
  private static final int HEADER_BYTES = 12;
  private static final int CHECKSUM_BYTES = 4;
  private static final int MIN_TEXT_BYTES = 40;
  private static final int MAX_TEXT_BYTES = 200;

  private KafkaRecord() {}

  /** The record of a place in a partition. */
  static byte[] make(int partition, long place) {
    SplittableRandom random = new SplittableRandom(place * 1024 + partition);
    byte[] text = new byte[random.nextInt(MIN_TEXT_BYTES, MAX_TEXT_BYTES)];
    random.nextBytes(text);
    ByteBuffer record = ByteBuffer.allocate(HEADER_BYTES + text.length + CHECKSUM_BYTES);
    record.putInt(partition).putLong(place).put(text);
    return record.putInt(checksum(record.array())).array();
  }

  /** Throws if this is not the record of that place. */
  static void check(byte[] record, int partition, long place) {
    ByteBuffer found = ByteBuffer.wrap(record);
    if (record.length < HEADER_BYTES + MIN_TEXT_BYTES + CHECKSUM_BYTES
        || found.getInt(record.length - CHECKSUM_BYTES) != checksum(record)) {
      throw new IllegalStateException(
          "a record of partition " + partition + " at " + place + " is damaged");
    }
    if (found.getInt() != partition || found.getLong() != place) {
      throw new IllegalStateException(
          "partition "
              + partition
              + " has at "
              + place
              + " the record of "
              + found.getInt(0)
              + " at "
              + found.getLong(4));
    }
  }

  private static int checksum(byte[] record) {
    CRC32C checksum = new CRC32C();
    checksum.update(record, 0, record.length - CHECKSUM_BYTES);
    return (int) checksum.getValue();
  }
}
