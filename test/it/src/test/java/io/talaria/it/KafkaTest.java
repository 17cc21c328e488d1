// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.FreePort;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.KafkaEater;
import io.talaria.it.programs.KafkaFeeder;
import io.talaria.it.programs.Launch;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.counters.file.ProcessTotals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A Kafka broker, a producer and a consumer, with the agent on none, on one and on both sides. The
 * broker is killed in mid-traffic and started again; every record arrives whole, in order, once.
 */
class KafkaTest {
  private static final Duration LIMIT = Duration.ofSeconds(150);
  private static final String TOPIC = "records";
  private static final int PARTITIONS = 4;

  /** The least a record takes on its way; the random part alone. */
  private static final long RECORD_BYTES = 40;

  @RegisterExtension final Lab lab = new Lab();

  private Path config;
  private int port;

  static List<Pair> pairs() {
    return Pair.coexistingAtLength();
  }

  @BeforeEach
  void configure() throws Exception {
    port = FreePort.any();
    int controllerPort = FreePort.any();
    config = lab.scratch().resolve("kafka.properties");
    Files.write(
        config,
        List.of(
            "process.roles=broker,controller",
            "node.id=1",
            "controller.quorum.voters=1@127.0.0.1:" + controllerPort,
            "controller.listener.names=CONTROLLER",
            "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
            "advertised.listeners=PLAINTEXT://127.0.0.1:" + port,
            "log.dirs=" + lab.scratch().resolve("kafka"),
            "auto.create.topics.enable=false",
            // The broker killed is forgotten sooner, and the next one may take its place.
            "broker.session.timeout.ms=3000",
            "broker.heartbeat.interval.ms=500"));
    quick(program(Flavour.PLAIN, Launch.class))
        .arg("main", "kafka.tools.StorageTool")
        .arg("0", "format")
        .arg("1", "--cluster-id")
        .arg("2", "dGFsYXJpYS1pdC1rYWZrYQ")
        .arg("3", "--config")
        .arg("4", config)
        .start()
        .awaitExit(0);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 400, unit = TimeUnit.SECONDS)
  void everyRecordArrivesOnceThoughTheBrokerDies(Pair pair) throws Exception {
    pair.assume();
    long records = Settings.scaled(pair.accelerated() ? 1_000_000 : 100_000);
    Child first = broker(pair);
    Child producer = client(pair, KafkaFeeder.class, records).start();
    producer.await("created", LIMIT);
    Child consumer = client(pair, KafkaEater.class, records).start();
    producer.await("begun", LIMIT);
    consumer.await("begun", LIMIT);
    expect(pair, first, producer, consumer);

    long startNs = System.nanoTime();
    producer.send("go");
    Event midway = producer.await("midway", LIMIT);
    first.kill();
    producer.send("go");
    final Child second = broker(pair);
    long pending = producer.await("resumed", LIMIT).number("pending");
    Event sent = producer.await("sent", LIMIT);
    Event eaten = consumer.await("eaten", LIMIT);
    assertThat(eaten.number("records")).isEqualTo(records);
    report(pair, records, pending, midway.nanoTime() - startNs, sent, eaten);

    expect(pair, second, producer, consumer);
    Ss.expect(pair, second, producer);
    Ss.expect(pair, second, consumer);
    if (pair.accelerated()) {
      assertCarried(records, Transports.totals(producer), Transports.totals(consumer));
    }
    producer.send("close");
    consumer.send("close");
    producer.await("closed");
    consumer.await("closed");
    lab.stop(producer, consumer);
    lab.stop(second);
  }

  private Child broker(Pair pair) throws IOException {
    ChildSpec broker = program(pair.server(), Launch.class);
    return (pair.accelerated() ? broker : quick(broker))
        .arg("main", "kafka.Kafka")
        .arg("0", config)
        .start();
  }

  private ChildSpec client(Pair pair, Class<?> main, long records) throws IOException {
    ChildSpec client = program(pair.client(), main);
    return (pair.accelerated() ? client : quick(client))
        .arg("port", port)
        .arg("topic", TOPIC)
        .arg("partitions", PARTITIONS)
        .arg("records", records);
  }

  private ChildSpec program(Flavour flavour, Class<?> main) throws IOException {
    return lab.child(flavour, main).classPath(ClassPath.kafka());
  }

  /** The short runs take longer to start than to work: they do without the second compiler. */
  private static ChildSpec quick(ChildSpec program) {
    return program.option("-XX:TieredStopAtLevel=1");
  }

  /**
   * Waits until the broker shows its connections with both clients, and each client one with the
   * broker, on the transport they must have. (The broker has connections with itself, too.)
   */
  private void expect(Pair pair, Child broker, Child... clients) throws Exception {
    NioTransport transport = pair.accelerated() ? NioTransport.SHM : NioTransport.TCP;
    if (pair.server().accelerated()) {
      Reason reason = pair.accelerated() ? Reason.SAME_HOST : Reason.NO_OFFER;
      Transports.awaitAll(
          broker,
          c -> c.transport() == transport && c.reason() == reason && c.local().getPort() == port,
          clients.length,
          transport + " because of " + reason);
    }
    if (pair.client().accelerated()) {
      Reason reason = pair.accelerated() ? Reason.SAME_HOST : Reason.PEER_NOT_ACCELERATED;
      for (Child client : clients) {
        Transports.await(
            client,
            c -> c.transport() == transport && c.reason() == reason && c.remote().getPort() == port,
            transport + " because of " + reason);
      }
    }
  }

  /** All but the beginning of each connection went through shared memory. */
  private static void assertCarried(long records, ProcessTotals producer, ProcessTotals consumer) {
    assertThat(producer.acceleratedOutBytes()).isGreaterThan(records * RECORD_BYTES);
    assertThat(producer.acceleratedOutBytes()).isGreaterThan(producer.tcpOutBytes() * 10);
    assertThat(consumer.acceleratedInBytes()).isGreaterThan(records * RECORD_BYTES);
    assertThat(consumer.acceleratedInBytes()).isGreaterThan(consumer.tcpInBytes() * 10);
  }

  private static void report(
      Pair pair, long records, long pending, long undisturbedNs, Event sent, Event eaten) {
    System.out.printf(
        "Kafka, %s: %d records; sent at %d/s before the kill; in all, with the broker's death and"
            + " return and the halts, sent in %.1f s and read in %.1f s; %d not acknowledged when"
            + " the broker was dead%n",
        pair,
        records,
        records / 5 * 1_000_000_000 / undisturbedNs,
        sent.number("ms") / 1e3,
        eaten.number("ms") / 1e3,
        pending);
  }
}
