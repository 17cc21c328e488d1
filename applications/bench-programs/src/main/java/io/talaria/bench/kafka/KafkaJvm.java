// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.kafka;

import io.talaria.bench.compare.Found;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.WarmUp;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.run.QuietLog;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** The program of both sides. */
public final class KafkaJvm {
  static final String TOPIC = "records";

  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private KafkaJvm() {}

  /** What is done again and again: moves records for some time. Used by one thread. */
  interface Mover extends AutoCloseable {
    /**
     * Moves records.
     *
     * @param lengthNs for how long; one record at least
     * @return how many have arrived
     */
    long move(long lengthNs) throws Exception;

    @Override
    void close();
  }

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    QuietLog.warningsOnly();
    Peer.serve(task -> KafkaHost.open(), KafkaJvm::run);
  }

  private static Object run(ParentLink link, Task task) throws Exception {
    KafkaTrial.Job job = task.job(KafkaTrial.Job.class);
    KafkaTrial trial = job.trial();
    Map<String, Object> broker =
        Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, address(task.where()));
    try (Admin admin = Admin.create(broker)) {
      admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
    } catch (ExecutionException e) {
      throw Peer.lost(task.where(), "while making a topic", e.getCause());
    }
    if (trial.work() == KafkaTrial.Work.CONSUME) {
      Records.fill(broker, trial.sizeBytes());
    }
    try (Mover mover =
        trial.work() == KafkaTrial.Work.PRODUCE
            ? new RecordProducer(broker, trial.sizeBytes())
            : new RecordConsumer(broker, trial.sizeBytes())) {
      Settling.await(trial.connections(), () -> mover.move(0));
      return measure(link, mover, trial.sizeBytes(), job.timing());
    }
  }

  private static String address(HostPort where) {
    return "127.0.0.1:" + where.port();
  }

  private static Found measure(ParentLink link, Mover mover, int sizeBytes, Timing timing)
      throws Exception {
    WarmUp warmUp = timing.warmUp(1);
    long moved = 0;
    do {
      moved += mover.move(Math.min(SLICE_NS, timing.measureNs()));
    } while (!warmUp.done(moved));
    link.report(Orders.PROGRESS, Orders.MEASURING);
    long begin = System.nanoTime();
    long records = mover.move(timing.measureNs());
    return Found.poured(warmUp, records, records * sizeBytes, System.nanoTime() - begin);
  }
}
