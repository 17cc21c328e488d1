// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HostPort;
import java.util.List;

/** A way to send objects, at both of its ends. */
enum MessagesContender {
  /** Nodes, by shared memory. */
  SHM("shm", "messages by shared memory") {
    @Override
    Service serve(MessagesJob job) throws Exception {
      return NodeWire.serve(job, true);
    }

    @Override
    Wire connect(MessagesJob job, HostPort where) throws Exception {
      return new NodeWire(job, where, true);
    }
  },
  /** Nodes, by TCP. */
  STREAM("stream", "messages by TCP, without the agent") {
    @Override
    Service serve(MessagesJob job) throws Exception {
      return NodeWire.serve(job, false);
    }

    @Override
    Wire connect(MessagesJob job, HostPort where) throws Exception {
      return new NodeWire(job, where, false);
    }
  },
  /** Netty with Kryo. */
  NETTY_KRYO("netty-kryo", "Netty and Kryo by TCP, without the agent, flushed every 64") {
    @Override
    Service serve(MessagesJob job) throws Exception {
      return KryoWire.serve();
    }

    @Override
    Wire connect(MessagesJob job, HostPort where) throws Exception {
      return new KryoWire(where);
    }
  },
  /** Aeron by IPC. */
  AERON_IPC("aeron-ipc", "Aeron IPC, concurrent publication, codec by hand") {
    @Override
    Service serve(MessagesJob job) throws Exception {
      return AeronWire.serve(job);
    }

    @Override
    Wire connect(MessagesJob job, HostPort where) throws Exception {
      return new AeronWire(job);
    }
  },
  /** The ring alone. */
  BARE("bare", "the ring in shared memory alone, no codec, no dispatch") {
    @Override
    Service serve(MessagesJob job) throws Exception {
      return BareWire.serve(job);
    }

    @Override
    Wire connect(MessagesJob job, HostPort where) throws Exception {
      return new BareWire(job);
    }
  };

  static final List<MessagesContender> OWN = List.of(SHM, STREAM);
  static final List<MessagesContender> BASELINES = List.of(NETTY_KRYO, AERON_IPC, BARE);

  private final String word;
  private final String description;

  MessagesContender(String word, String description) {
    this.word = word;
    this.description = description;
  }

  abstract Service serve(MessagesJob job) throws Exception;

  abstract Wire connect(MessagesJob job, HostPort where) throws Exception;

  String description() {
    return description;
  }

  /** Returns the word that users write. */
  @Override
  public String toString() {
    return word;
  }
}
