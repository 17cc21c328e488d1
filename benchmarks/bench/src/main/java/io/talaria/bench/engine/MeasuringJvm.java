// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.compare.WarmUpLength;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.harness.WarmUp;
import io.talaria.bench.link.Binding;
import io.talaria.bench.link.Bindings;
import io.talaria.bench.link.Laps;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.result.WireCounters;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/** One of the JVMs that measure. Its main thread does what it is ordered. */
public final class MeasuringJvm {
  /** How often a follower looks whether a connection has failed. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final ParentLink parent;
  private final List<Worker> workers = new ArrayList<>();
  private BindingKind kind;
  private boolean client;
  private Pattern pattern;
  private WarmUp warmUp;
  private long operations;
  private WireCounters wire;
  private UcxPerftest.Server perftest;
  private volatile boolean ended;

  private MeasuringJvm(ParentLink parent) {
    this.parent = parent;
  }

  /**
   * Runs the JVM.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ParentLink.serve(parent -> new MeasuringJvm(parent).run());
  }

  private void run() throws Exception {
    while (true) {
      Orders.Order order = parent.receive(Orders.Order.class);
      try {
        parent.report(order.phase().name(), obey(order));
      } catch (IOException e) {
        throw new HarnessException(order.phase().failure() + ": " + reason(e), e);
      }
    }
  }

  /** What a connection suffers is no fault of this program: it needs no stack trace. */
  private static String reason(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private Object obey(Orders.Order order) throws Exception {
    return switch (order.phase()) {
      case INITIALIZE -> initialize(Json.as(order.body(), Orders.Initialize.class));
      case OFFER -> offer(Json.as(order.body(), Orders.Offer.class));
      case ANSWER -> answer(Json.as(order.body(), Orders.Meet.class));
      case ACCEPT -> accept(Json.as(order.body(), Orders.Meet.class));
      case PREPARE -> prepare(Json.as(order.body(), Orders.Prepare.class));
      case OPERATE -> operate(Json.as(order.body(), Orders.Operate.class));
      case END -> throw new IllegalStateException("nothing to end");
      case PERFTEST -> perftest(Json.as(order.body(), Orders.Perftest.class));
      case CLEAN_UP -> cleanUp();
    };
  }

  private Orders.Initialized initialize(Orders.Initialize order) {
    kind = order.kind();
    client = order.client();
    String unavailableReason = Bindings.load(kind).orElse("");
    return new Orders.Initialized(
        unavailableReason.isEmpty() ? Bindings.release(kind) : "",
        unavailableReason,
        TransportProbe.switchedOn());
  }

  private Orders.Lines offer(Orders.Offer order) throws Exception {
    return new Orders.Lines(all(open(order.setup(), order.connections()), Worker::offer));
  }

  private Orders.Lines answer(Orders.Meet order) throws Exception {
    List<Worker> opened = open(order.setup(), order.lines().size());
    if (wire == null) { // of many it is the first that is on the other machine, if there is one
      wire = WireCounters.towards(order.setup().host());
    }
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < opened.size(); i++) {
      answers.add(get(opened.get(i).answer(order.lines().get(i))));
    }
    return new Orders.Lines(answers);
  }

  private Orders.Nothing accept(Orders.Meet order) throws Exception {
    int offered = workers.size() - order.lines().size(); // those offered last
    for (int i = 0; i < order.lines().size(); i++) {
      get(workers.get(offered + i).accept(order.lines().get(i)));
    }
    return Orders.Nothing.INSTANCE;
  }

  /** Opens further workers. */
  private List<Worker> open(Binding.Setup setup, int connections) {
    int before = workers.size();
    for (int i = 0; i < connections; i++) {
      workers.add(new Worker(workers.size(), kind, setup));
    }
    return List.copyOf(workers.subList(before, workers.size()));
  }

  private static <T> List<T> all(List<Worker> workers, Function<Worker, Future<T>> task)
      throws Exception {
    List<T> results = new ArrayList<>();
    for (Future<T> future : workers.stream().map(task).toList()) {
      results.add(get(future));
    }
    return results;
  }

  private static <T> T get(Future<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  private Orders.Nothing prepare(Orders.Prepare order) throws Exception {
    pattern = order.pattern();
    operations = 0;
    for (Worker worker : workers) {
      get(worker.prepare(order.sizeBytes()));
    }
    warmUp = new WarmUpLength(order.warmUpSeconds()).begin(kind.sockets() ? workers.size() : 0);
    return Orders.Nothing.INSTANCE;
  }

  private Orders.Operated operate(Orders.Operate order) throws Exception {
    ended = false;
    WireCounters.Look before = wire == null ? null : wire.read();
    List<Future<Worker.Work>> futures =
        workers.stream()
            .map(worker -> worker.operate(pattern, client, order, () -> ended))
            .toList();
    if (!client) {
      awaitEnd(futures);
    }
    List<Worker.Work> work = new ArrayList<>();
    for (Future<Worker.Work> future : futures) {
      work.add(get(future));
    }
    WireCounters.Carried carried =
        before == null ? WireCounters.Carried.NONE : wire.read().since(before);
    operations += order.operations();
    return new Orders.Operated(
        work.stream().mapToLong(Worker.Work::endNs).max().orElseThrow()
            - work.stream().mapToLong(Worker.Work::startNs).min().orElseThrow(),
        order.counts() ? merged(work, Laps::sinceBegun) : null,
        order.counts() ? merged(work, Laps::sinceDue) : null,
        order.counts() || warmUp.done(operations),
        warmUp.rested(),
        TransportProbe.look(),
        carried.interfaceBytes(),
        carried.infinibandBytes());
  }

  /** Waits for the leaders' end; a connection that fails meanwhile is told at once. */
  private void awaitEnd(List<Future<Worker.Work>> futures) throws Exception {
    Optional<Orders.Order> order = Optional.empty();
    while (order.isEmpty()) {
      order = parent.poll(Orders.Order.class, LOOK);
      for (Future<Worker.Work> future : futures) {
        if (future.isDone()) {
          get(future);
        }
      }
    }
    Orders.Phase phase = order.get().phase();
    if (phase != Orders.Phase.END) {
      throw new IllegalStateException(phase + " where END was due");
    }
    ended = true;
  }

  private static String merged(List<Worker.Work> work, Function<Laps, Histogram> which) {
    Histogram sum = null;
    for (Worker.Work one : work) {
      Histogram histogram = one.laps() == null ? null : which.apply(one.laps());
      if (histogram != null) {
        sum = sum == null ? Latencies.histogram() : sum;
        sum.add(histogram);
      }
    }
    return sum == null ? null : Latencies.encode(sum);
  }

  /** It runs where this JVM does, for one test; what is left of it ends with this JVM. */
  private int perftest(Orders.Perftest order) throws HarnessException {
    if (!UcxPerftest.installed()) {
      throw new HarnessException("ucx_perftest is not installed here (package ucx-utils)");
    }
    UcxPerftest.Server before = perftest;
    perftest = UcxPerftest.startServer(Pinning.NONE, order.transports());
    if (before != null) {
      before.close();
    }
    return perftest.port();
  }

  private Orders.Nothing cleanUp() throws Exception {
    for (Future<?> future : workers.stream().map(Worker::end).toList()) {
      get(future);
    }
    workers.forEach(Worker::close);
    workers.clear();
    return Orders.Nothing.INSTANCE;
  }
}
