// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HostPort;
import io.talaria.messaging.Dispatch;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeDirectory;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import io.talaria.messaging.Peer;
import io.talaria.workloads.messages.objects.Block;
import io.talaria.workloads.messages.objects.Eight;
import io.talaria.workloads.messages.objects.Tally;
import io.talaria.workloads.messages.objects.Two;
import java.lang.invoke.MethodHandles;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.agrona.concurrent.IdleStrategy;

/** Objects between two nodes. */
public final class NodeWire implements Wire {
  private static final int SERVER = 1;
  private static final int CLIENT = 2;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long LIMIT_NS = LIMIT.toNanos();

  /** The request for what has come so far. */
  record HowMany() {}

  private final Node node;
  private final Peer peer;

  NodeWire(MessagesJob job, HostPort where) throws Exception {
    node =
        Nodes.start(
            options(CLIENT, job)
                .directory(
                    NodeDirectory.of(
                        Map.of(SERVER, new InetSocketAddress(where.host(), where.port())))));
    peer = node.peer(SERVER);
    tally();
    Encryption.check(job.implementation(), peer);
  }

  private static NodeOptions options(int id, MessagesJob job) {
    Path directory = Path.of(job.directory());
    NodeOptions options =
        NodeOptions.of(id)
            .cluster("bench")
            .runDirectory(directory.resolve("run"))
            .sharedMemoryDirectory(directory.resolve("shm"))
            .idleStrategy(job.idleStrategy())
            .sendTimeout(Duration.ofSeconds(30))
            .lookup(MethodHandles.lookup())
            .type(Two.class)
            .type(Eight.class)
            .type(Block.class)
            .type(Tally.class)
            .type(HowMany.class);
    return Encryption.apply(options, job.implementation(), job.directory());
  }

  static Service serve(MessagesJob job) throws Exception {
    Tally.Adder adder = new Tally.Adder();
    NodeOptions options =
        options(SERVER, job)
            .receive(Two.class, Dispatch.INLINE, (two, from) -> adder.take(two))
            .receive(Eight.class, Dispatch.INLINE, (eight, from) -> adder.take(eight))
            .receive(Block.class, Dispatch.INLINE, (block, from) -> adder.take(block))
            .handle(Two.class, Dispatch.INLINE, (two, request) -> request.respond(two))
            .handle(Eight.class, Dispatch.INLINE, (eight, request) -> request.respond(eight))
            .handle(Block.class, Dispatch.INLINE, (block, request) -> request.respond(block))
            .handle(
                HowMany.class, Dispatch.INLINE, (ask, request) -> request.respond(adder.tally()));
    Node node = Nodes.start(Encryption.listen(options, job.implementation()));
    return Service.of(Math.max(0, node.port()), node::close);
  }

  @Override
  public ObjectSender sender(IdleStrategy full) {
    return peer::send;
  }

  @Override
  public Tally tally() throws Exception {
    return peer.request(new HowMany(), Tally.class, LIMIT);
  }

  @Override
  public Object request(Object message) throws Exception {
    return peer.requestNs(message, message.getClass(), LIMIT_NS);
  }

  @Override
  public void close() {
    node.close();
  }
}
