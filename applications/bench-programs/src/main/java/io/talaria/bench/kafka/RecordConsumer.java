// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer with its usual settings, from the first record to the last, again and again. */
final class RecordConsumer implements KafkaJvm.Mover {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final TopicPartition PARTITION = new TopicPartition(KafkaJvm.TOPIC, 0);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final int sizeBytes;
  private final long end;
  private long next;

  RecordConsumer(Map<String, Object> broker, int sizeBytes) {
    consumer =
        new KafkaConsumer<>(broker, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    consumer.assign(List.of(PARTITION));
    end = consumer.endOffsets(List.of(PARTITION)).get(PARTITION);
    this.sizeBytes = sizeBytes;
    this.next = end;
  }

  @Override
  public long move(long lengthNs) throws HarnessException {
    long until = System.nanoTime() + lengthNs;
    long taken = 0;
    do {
      if (next == end) {
        consumer.seekToBeginning(List.of(PARTITION));
        next = 0;
      }
      ConsumerRecords<byte[], byte[]> records = consumer.poll(PATIENCE);
      if (records.isEmpty()) {
        throw new HarnessException("no record came for " + PATIENCE.toSeconds() + " s");
      }
      for (ConsumerRecord<byte[], byte[]> record : records) {
        if (record.offset() != next || record.value().length != sizeBytes) {
          throw new HarnessException(
              "a record of "
                  + record.value().length
                  + " bytes came from place "
                  + record.offset()
                  + ", not one of "
                  + sizeBytes
                  + " from place "
                  + next);
        }
        next++;
      }
      taken += records.count();
    } while (System.nanoTime() < until);
    return taken;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
