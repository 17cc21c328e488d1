// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads what a {@link KafkaFeeder} writes, and fails unless each partition has each record whole,
 * in its place, once. Says {@code @begun} after the first records and {@code @eaten} when all have
 * come and no more are there.
 */
public final class KafkaEater {
  private final long records;
  private final List<TopicPartition> partitions = new ArrayList<>();
  private final long[] places;
  private long eaten;

  private KafkaEater(Args args) {
    records = args.number("records", 0);
    places = new long[args.count("partitions", 1)];
    for (int i = 0; i < places.length; i++) {
      partitions.add(new TopicPartition(args.text("topic", ""), i));
    }
  }

  /**
   * Runs the program.
   *
   * @param arguments port, topic, partitions, records
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          KafkaEater eater = new KafkaEater(args);
          try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings(args))) {
            eater.eat(consumer);
            Console.awaitCommand("close");
          }
          Console.say("closed");
          Console.awaitEnd();
        });
  }

  private static Properties settings(Args args) {
    Properties settings = new Properties();
    settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:" + args.number("port", 0));
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    settings.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 200);
    settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 300_000);
    return settings;
  }

  private void eat(KafkaConsumer<byte[], byte[]> consumer) {
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    long startNs = System.nanoTime();
    while (eaten < records) {
      boolean first = eaten == 0;
      poll(consumer, Duration.ofSeconds(1));
      if (first && eaten > 0) {
        Console.say("begun");
      }
    }
    long ms = (System.nanoTime() - startNs) / 1_000_000;
    poll(consumer, Duration.ofMillis(200));
    long stored = consumer.endOffsets(partitions).values().stream().mapToLong(end -> end).sum();
    if (eaten != records || stored != records) {
      throw new IllegalStateException(
          eaten + " records came and " + stored + " are stored, of " + records + " sent");
    }
    Console.say("eaten", "records", eaten, "ms", ms);
  }

  private void poll(KafkaConsumer<byte[], byte[]> consumer, Duration limit) {
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(limit)) {
      int partition = record.partition();
      long place = places[partition]++;
      if (record.offset() != place) {
        throw new IllegalStateException(
            "offset " + record.offset() + " instead of " + place + " in partition " + partition);
      }
      KafkaRecord.check(record.value(), partition, place);
      eaten++;
    }
  }
}
