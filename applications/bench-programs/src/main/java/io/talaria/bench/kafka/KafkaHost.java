// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HarnessException;
import io.talaria.programs.ThirdParty;
import io.talaria.workloads.run.ScratchFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import kafka.Kafka;
import kafka.tools.StorageTool;

/** A broker that is its own controller, started as its script would. */
final class KafkaHost implements Service {
  private static final String CLUSTER = "dGFsYXJpYS1iZW5jaC0wMA";

  private final int port;
  private final ScratchFolder folder;

  private KafkaHost(int port, ScratchFolder folder) {
    this.port = port;
    this.folder = folder;
  }

  /** Starts it on 127.0.0.1; clients may come before it is ready. */
  static KafkaHost open() throws HarnessException, IOException {
    ScratchFolder folder = ScratchFolder.make();
    int port = ThirdParty.freePort();
    Path settings = settings(folder.path(), port);
    format(settings);
    Thread broker =
        new Thread(() -> Kafka.main(new String[] {settings.toString()}), "talaria-kafka");
    broker.setDaemon(true);
    broker.start();
    return new KafkaHost(port, folder);
  }

  private static Path settings(Path folder, int port) throws IOException {
    int controller = ThirdParty.freePort();
    String broker = "PLAINTEXT://127.0.0.1:" + port;
    return Files.write(
        folder.resolve("kafka.properties"),
        List.of(
            "process.roles=broker,controller",
            "node.id=1",
            "controller.quorum.voters=1@127.0.0.1:" + controller,
            "controller.listener.names=CONTROLLER",
            "listeners=" + broker + ",CONTROLLER://127.0.0.1:" + controller,
            "advertised.listeners=" + broker,
            "log.dirs=" + folder.resolve("logs"),
            "auto.create.topics.enable=false",
            // What a fast producer sends must not fill the disk.
            "log.segment.bytes=" + (64 << 20),
            "log.retention.bytes=" + (512 << 20),
            "log.retention.check.interval.ms=1000",
            "log.segment.delete.delay.ms=0",
            "offsets.topic.replication.factor=1"));
  }

  private static void format(Path settings) throws HarnessException {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    String[] words = {"format", "--cluster-id", CLUSTER, "--config", settings.toString()};
    int status = StorageTool.execute(words, new PrintStream(said, true, StandardCharsets.UTF_8));
    if (status != 0) {
      throw new HarnessException(
          "Kafka cannot format its folder: " + said.toString(StandardCharsets.UTF_8).strip());
    }
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void close() {
    folder.close();
  }
}
