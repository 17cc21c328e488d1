// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Makes a Kafka topic and fills it with an idempotent producer. Halts after a fifth of the records
 * ({@code @begun}) until told to {@code go}. When two fifths are acknowledged it says
 * {@code @midway} and continues to four fifths, where it waits for {@code go} again, so that the
 * test can cause failures meanwhile.
 */
public final class KafkaFeeder {
  private static final String PATIENCE_MS = "300000";

  private final Args args;
  private final String broker;
  private final long records;
  private final AtomicLong acknowledged = new AtomicLong();

  private KafkaFeeder(Args args) {
    this.args = args;
    broker = "127.0.0.1:" + args.number("port", 0);
    records = args.number("records", 0);
  }

  /**
   * Runs the program.
   *
   * @param arguments port, topic, partitions, records
   */
  public static void main(String[] arguments) {
    Console.run(arguments, args -> new KafkaFeeder(args).run());
  }

  private void run() throws Exception {
    String topic = args.text("topic", "");
    int partitions = args.count("partitions", 1);
    createTopic(topic, partitions);
    Console.say("created");
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings())) {
      long startNs = System.nanoTime();
      for (long i = 0; i < records; i++) {
        int partition = (int) (i % partitions);
        byte[] value = KafkaRecord.make(partition, i / partitions);
        producer.send(
            new ProducerRecord<>(topic, partition, null, value),
            (metadata, failure) -> acknowledge(failure));
        if (i == records / 5) {
          producer.flush();
          Console.say("begun");
          Console.awaitCommand("go");
        } else if (i == records / 5 * 4) {
          Console.awaitCommand("go");
          Console.say("resumed", "pending", i + 1 - acknowledged.get());
        }
      }
      producer.flush();
      if (acknowledged.get() != records) {
        throw new IllegalStateException(acknowledged + " records acknowledged of " + records);
      }
      Console.say("sent", "ms", (System.nanoTime() - startNs) / 1_000_000);
      Console.awaitCommand("close");
    }
    Console.say("closed");
    Console.awaitEnd();
  }

  private void createTopic(String topic, int partitions) throws Exception {
    Map<String, Object> settings =
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker,
            AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, "200",
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, PATIENCE_MS);
    try (Admin admin = Admin.create(settings)) {
      admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
    }
  }

  private Properties settings() {
    Properties settings = new Properties();
    settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    settings.put(ProducerConfig.LINGER_MS_CONFIG, 5);
    settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 1 << 16);
    settings.put(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 200);
    settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, PATIENCE_MS);
    settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, PATIENCE_MS);
    return settings;
  }

  private void acknowledge(Exception failure) {
    if (failure != null) {
      Console.fail(failure);
    } else if (acknowledged.incrementAndGet() == records / 5 * 2) {
      Console.say("midway");
    }
  }
}
