// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.WarmUp;
import io.talaria.cli.harness.HarnessException;
import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import io.talaria.messaging.Peer;
import io.talaria.workloads.messages.NodesJob.Go;
import io.talaria.workloads.messages.NodesJob.Known;
import io.talaria.workloads.messages.NodesJob.Went;
import io.talaria.workloads.messages.SenderThreads.Work;
import io.talaria.workloads.messages.objects.Block;
import io.talaria.workloads.messages.objects.Eight;
import io.talaria.workloads.messages.objects.Mutable;
import io.talaria.workloads.messages.objects.Receipt;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.objects.Tally;
import io.talaria.workloads.messages.objects.Two;
import io.talaria.workloads.messages.wire.Encryption;
import io.talaria.workloads.messages.wire.MessagesPattern;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** The program of each of several nodes: one that sends, receives, and knows what must come. */
public final class NodesJvm {
  static final String LISTENING = "listening";
  static final String READY = "ready";
  static final String WENT = "went";

  private static final int BURST = 64;
  private static final int BURST_BYTES = 1 << 20;
  private static final long LIMIT_S = 30;
  private static final Duration LIMIT = Duration.ofSeconds(LIMIT_S);
  private static final long LOOK_AGAIN_NS = 50_000;

  /** Remembers why a connection was lost, with which messages are lost that were on their way. */
  private final class Losses implements NodeListener {
    @Override
    public void lost(Peer peer, String reason, long unacknowledgedBytes) {
      lost =
          "; the connection to node "
              + peer.id()
              + " was lost with "
              + unacknowledgedBytes
              + " bytes on their way: "
              + reason;
    }
  }

  /** The request for what has come so far. */
  record HowMany() {}

  private final NodesJob job;
  private final int[] targets;
  private final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
  private final Receipt[] receipts;
  private final List<Sender> senders = new ArrayList<>();
  private final Node node;
  private WarmUp warmUp;

  /** What is to be said of a connection that was lost; empty if none was. */
  private volatile String lost = "";

  private NodesJvm(NodesJob job) throws IOException {
    this.job = job;
    targets = job.pattern().targets(job.id(), job.nodes());
    receipts = new Receipt[job.nodes() + 1];
    Arrays.setAll(receipts, each -> Receipt.of(job.how().dispatch()));
    node = Nodes.start(options());
    node.listen(new Losses());
    for (int worker = 0; worker < job.how().threads(); worker++) {
      senders.add(new Sender(worker));
    }
  }

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ParentLink.serve(
        link -> {
          NodesJvm jvm = new NodesJvm(link.receive(NodesJob.class));
          try (Node node = jvm.node) {
            link.report(LISTENING, Math.max(0, node.port()));
            jvm.meet(link.receive(Known.class));
            link.report(READY, node.id());
            while (true) { // until the parent ends this process
              link.report(WENT, jvm.go(link.receive(Go.class)));
            }
          }
        });
  }

  private NodeOptions options() {
    Path directory = Path.of(job.directory());
    NodesHow how = job.how();
    NodeOptions options =
        NodeOptions.of(job.id())
            .cluster("bench")
            .runDirectory(directory.resolve("run"))
            .sharedMemoryDirectory(directory.resolve("shm"))
            .idleStrategy(how.idleStrategy())
            .directory(addresses::get)
            .sendTimeout(Duration.ofSeconds(LIMIT_S))
            .lookup(MethodHandles.lookup())
            .type(Tally.class)
            .handle(
                HowMany.class,
                Dispatch.INLINE,
                (ask, request) -> request.respond(receipts[request.from().id()].tally()));
    if (how.handlers() != 0) {
      options = options.handlers(how.handlers());
    }
    options = Encryption.apply(options, job.implementation(), job.directory());
    options = Encryption.listen(options, job.implementation());
    return how.reuse() ? mutable(options) : records(options, how.dispatch());
  }

  private NodeOptions records(NodeOptions options, Dispatch dispatch) {
    return options
        .receive(Two.class, dispatch, (two, from) -> take(from, two.a(), -1, two.sum()))
        .receive(Eight.class, dispatch, (eight, from) -> take(from, eight.a(), -1, eight.sum()))
        .receive(
            Block.class,
            dispatch,
            (block, from) -> take(from, block.number(), block.mask(), block.sum()));
  }

  private NodeOptions mutable(NodeOptions options) {
    return options
        .type(Mutable.OfTwo.class, Mutable.codec(Mutable.OfTwo::new))
        .type(Mutable.OfEight.class, Mutable.codec(Mutable.OfEight::new))
        .reuse(Mutable.OfTwo.class, Mutable.OfTwo::new)
        .reuse(Mutable.OfEight.class, Mutable.OfEight::new)
        .receive(Mutable.OfTwo.class, Dispatch.INLINE, this::take)
        .receive(Mutable.OfEight.class, Dispatch.INLINE, this::take);
  }

  private void take(Mutable object, Peer from) {
    take(from, object.number(), -1, object.sum());
  }

  private void take(Peer from, long number, long mask, long sum) {
    receipts[from.id()].take(number, mask, sum);
  }

  /** Learns where the others are, and connects to those it sends to. */
  private void meet(Known known) throws Exception {
    for (int id = 1; id <= known.ports().size(); id++) {
      int port = known.ports().get(id - 1);
      if (port != 0) {
        addresses.put(id, new InetSocketAddress("127.0.0.1", port));
      }
    }
    if (job.pattern() == MessagesPattern.CONNECT) {
      return;
    }
    for (int target : targets) {
      tally(target);
      checkTransport(target);
    }
  }

  private void checkTransport(int target) throws HarnessException {
    Encryption.check(job.implementation(), node.peer(target));
  }

  private Tally tally(int target) throws MessagingException {
    return node.peer(target).request(new HowMany(), Tally.class, LIMIT);
  }

  private Went go(Go order) throws Exception {
    if (warmUp == null) {
      warmUp = job.timing().warmUp(1);
    }
    long before = sent();
    long begin = System.nanoTime();
    if (job.pattern() == MessagesPattern.CONNECT) {
      SenderThreads.run(Arrays.stream(targets).mapToObj(each -> (Work) () -> tally(each)).toList());
      long elapsed = System.nanoTime() - begin;
      for (int target : targets) {
        checkTransport(target);
      }
      return new Went(targets.length, elapsed, true, true);
    }
    if (targets.length != 0) {
      SenderThreads.run(
          senders.stream().map(each -> (Work) () -> each.send(begin, order.ns())).toList());
    }
    for (int target : targets) {
      awaitAll(target);
    }
    long elapsed = System.nanoTime() - begin;
    boolean warm = targets.length == 0 || !order.warmsUp() || warmUp.done(sent());
    return new Went(sent() - before, elapsed, warm, targets.length == 0 || warmUp.rested());
  }

  private long sent() {
    return senders.stream().mapToLong(each -> Arrays.stream(each.sent).sum()).sum();
  }

  /** Waits until a node has received all, and compares. */
  private void awaitAll(int target) throws Exception {
    long count = senders.stream().mapToLong(each -> each.sent[target]).sum();
    long sum = senders.stream().mapToLong(each -> each.sums[target]).sum();
    Tally expected = new Tally(count, sum, 0);
    long begin = System.nanoTime();
    Tally got = tally(target);
    while (got.count() < count && System.nanoTime() - begin < LIMIT.toNanos()) {
      LockSupport.parkNanos(LOOK_AGAIN_NS); // handlers have some of it
      got = tally(target);
    }
    if (!got.equals(expected)) {
      throw new HarnessException(
          "node "
              + target
              + " received "
              + got
              + " of node "
              + job.id()
              + ", not "
              + expected
              + lost);
    }
  }

  /** One thread's share. */
  private final class Sender {
    private final int worker;
    private final long[] sent = new long[job.nodes() + 1];
    private final long[] sums = new long[job.nodes() + 1];
    private final Mutable again = job.how().reuse() ? Mutable.of(job.sizeBytes()) : null;

    Sender(int worker) {
      this.worker = worker;
    }

    void send(long beginNs, long ns) throws MessagingException {
      Peer[] peers = Arrays.stream(targets).mapToObj(node::peer).toArray(Peer[]::new);
      int burst = Math.clamp(BURST_BYTES / job.sizeBytes(), 1, BURST);
      long turnNs = job.pattern() == MessagesPattern.TURNING ? ns / 2 : ns;
      int among = peers.length;
      long passedNs;
      do {
        for (int i = 0; i < burst; i++) {
          for (int t = 0; t < among; t++) {
            long number = Receipt.number(worker, sent[targets[t]]);
            Object object =
                again == null ? Sizes.object(job.sizeBytes(), number) : again.fill(number);
            peers[t].send(object);
            sent[targets[t]]++;
            sums[targets[t]] += Sizes.sum(job.sizeBytes(), number);
          }
        }
        passedNs = System.nanoTime() - beginNs;
        if (passedNs >= turnNs) {
          among = 1;
        }
      } while (passedNs < ns);
    }
  }
}
