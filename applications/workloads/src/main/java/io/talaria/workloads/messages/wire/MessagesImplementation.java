// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import com.fasterxml.jackson.annotation.JsonValue;
import io.talaria.bench.compare.Service;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HostPort;
import io.talaria.messaging.Transport;
import java.util.List;

/** A way to send objects, at both of its ends. */
public enum MessagesImplementation implements Implementation {
  /** Nodes, by shared memory. */
  SHM("shm", "messages by shared memory", NodeWire::serve, NodeWire::new),
  /** Nodes, by TCP. */
  TCP("tcp", "messages by TCP, without the agent", NodeWire::serve, NodeWire::new),
  /** Nodes, by TCP, encrypted. */
  TCP_ENCRYPTED(
      "tcp-encrypted",
      "messages by TCP, encrypted and authenticated, without the agent",
      NodeWire::serve,
      NodeWire::new),
  /** Nodes, by RDMA verbs. */
  VERBS(
      "verbs", "messages by RDMA verbs, by the first active port", NodeWire::serve, NodeWire::new),
  /** Nodes, by UCX. */
  UCX("ucx", "messages by UCX, over what it finds here", NodeWire::serve, NodeWire::new),
  /** Netty with Kryo. */
  NETTY_KRYO(
      "netty-kryo",
      "Netty and Kryo by TCP, without the agent, flushed every 64",
      job -> KryoWire.serve(),
      KryoWire::new),
  /** Netty with Kryo, on Talaria's sockets. */
  NETTY_KRYO_AGENT(
      "netty-kryo-agent",
      "Netty and Kryo with the agent at both ends, flushed every 64",
      job -> KryoWire.serve(),
      KryoWire::new),
  /** Aeron by IPC. */
  AERON_IPC(
      "aeron-ipc",
      "Aeron IPC, concurrent publication, codec by hand",
      job -> AeronWire.serve(job, false),
      (job, where) -> new AeronWire(job, 0, false)),
  /** Aeron by IPC, one sender. */
  AERON_EXCLUSIVE(
      "aeron-exclusive",
      "Aeron IPC, exclusive publication, codec by hand",
      job -> AeronWire.serve(job, false),
      (job, where) -> new AeronWire(job, 0, true)),
  /** Aeron by UDP. */
  AERON_UDP(
      "aeron-udp",
      "Aeron UDP on the loopback interface, concurrent publication; its driver, which both ends"
          + " share, sleeps for up to 1 ms",
      job -> AeronWire.serve(job, true),
      (job, where) -> new AeronWire(job, where.port(), false)),
  /** gRPC. */
  GRPC(
      "grpc",
      "gRPC by TCP: unary calls for request, one stream for one way, codec by hand",
      job -> GrpcWire.serve(),
      (job, where) -> new GrpcWire(where)),
  /** JeroMQ. */
  JEROMQ(
      "jeromq",
      "JeroMQ by TCP, codec by hand; it batches by itself",
      job -> JeroWire.serve(),
      (job, where) -> new JeroWire(where)),
  /** The ring alone. */
  BARE(
      "bare",
      "the ring in shared memory alone, no codec, no dispatch",
      BareWire::serve,
      (job, where) -> new BareWire(job)),
  /** A pipe each way. */
  PIPE(
      "pipe",
      "a pipe each way, on which the receiver sleeps, codec by hand",
      PipeWire::serve,
      (job, where) -> new PipeWire(job));

  /** Messaging, by each of its transports as they are named. */
  public static final List<MessagesImplementation> OWN = List.of(SHM, TCP, VERBS, UCX);

  /** Those that need nothing else. */
  public static final List<MessagesImplementation> USUAL = List.of(SHM, TCP);

  /** What messaging is compared with. */
  public static final List<MessagesImplementation> BASELINES =
      List.of(
          NETTY_KRYO,
          NETTY_KRYO_AGENT,
          GRPC,
          AERON_IPC,
          AERON_EXCLUSIVE,
          AERON_UDP,
          JEROMQ,
          BARE,
          PIPE);

  /** Makes the end that receives. */
  @FunctionalInterface
  private interface Server {
    Service serve(MessagesJob job) throws Exception;
  }

  /** Makes the end that sends. */
  @FunctionalInterface
  private interface Client {
    Wire connect(MessagesJob job, HostPort where) throws Exception;
  }

  private final String word;
  private final String description;

  @SuppressWarnings("ImmutableEnumChecker") // Without state.
  private final Server server;

  @SuppressWarnings("ImmutableEnumChecker") // Without state.
  private final Client client;

  MessagesImplementation(String word, String description, Server server, Client client) {
    this.word = word;
    this.description = description;
    this.server = server;
    this.client = client;
  }

  /** The end that receives. */
  public Service serve(MessagesJob job) throws Exception {
    return server.serve(job);
  }

  /** The end that sends. */
  public Wire connect(MessagesJob job, HostPort where) throws Exception {
    return client.connect(job, where);
  }

  /** Returns what it is, for readers. */
  public String description() {
    return description;
  }

  /** Whether it is messaging. */
  public boolean ofNodes() {
    return OWN.contains(this) || encrypted();
  }

  /** Whether it carries arrays of up to a mebibyte, too. */
  public boolean carriesArrays() {
    return ofNodes() || this == NETTY_KRYO || this == NETTY_KRYO_AGENT || this == BARE;
  }

  /** Whether it is measured only where each message is a request. */
  public boolean onlyRequests() {
    return this == PIPE;
  }

  /** Whether several threads may send, or request, objects of a size by one wire. */
  public boolean manyThreads(MessagesPattern pattern, int sizeBytes) {
    if (pattern.isRequest()) {
      return ofNodes();
    }
    return switch (this) {
      case GRPC, JEROMQ, AERON_EXCLUSIVE -> false;
      case BARE -> sizeBytes <= BareWire.SLICE; // slices of two objects would be mixed
      default -> true;
    };
  }

  /** Whether what goes by TCP is encrypted. */
  boolean encrypted() {
    return this == TCP_ENCRYPTED;
  }

  /** The transport of messaging that it is. */
  Transport transport() {
    return switch (this) {
      case SHM -> Transport.SHM;
      case TCP, TCP_ENCRYPTED -> Transport.TCP;
      case VERBS -> Transport.VERBS;
      case UCX -> Transport.UCX;
      default -> throw new IllegalStateException(this + " is no transport");
    };
  }

  /** Returns the word that users write. */
  @Override
  @JsonValue
  public String label() {
    return word;
  }

  /** Returns whether the agent is at both ends: it is for one only. */
  @Override
  public boolean onTalaria() {
    return this == NETTY_KRYO_AGENT;
  }

  /** Returns the {@link #label}. */
  @Override
  public String toString() {
    return word;
  }
}
