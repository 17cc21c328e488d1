// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A producer with its usual settings: waits for the broker's acknowledgements, in batches. */
final class RecordProducer implements KafkaJvm.Mover {
  private static final int BETWEEN_LOOKS = 64;

  private final KafkaProducer<byte[], byte[]> producer;
  private final ProducerRecord<byte[], byte[]> record;
  private final AtomicReference<Exception> failure = new AtomicReference<>();

  RecordProducer(Map<String, Object> broker, int sizeBytes) {
    producer = new KafkaProducer<>(broker, new ByteArraySerializer(), new ByteArraySerializer());
    record = new ProducerRecord<>(KafkaJvm.TOPIC, 0, null, Records.value(sizeBytes));
  }

  @Override
  public long move(long lengthNs) throws Exception {
    long end = System.nanoTime() + lengthNs;
    long sent = 0;
    do {
      int batch = lengthNs == 0 ? 1 : BETWEEN_LOOKS;
      for (int i = 0; i < batch; i++) {
        sendOne();
      }
      sent += batch;
    } while (System.nanoTime() < end);
    finish();
    return sent;
  }

  /** Sends so many, and waits until the broker has them. */
  void send(int records) throws Exception {
    for (int i = 0; i < records; i++) {
      sendOne();
    }
    finish();
  }

  private void sendOne() {
    producer.send(
        record,
        (metadata, problem) -> {
          if (problem != null) {
            failure.compareAndSet(null, problem);
          }
        });
  }

  private void finish() throws Exception {
    producer.flush();
    Exception problem = failure.get();
    if (problem != null) {
      throw problem;
    }
  }

  @Override
  public void close() {
    producer.close();
  }
}
