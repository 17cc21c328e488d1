// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Trial;
import io.talaria.cli.harness.Units;
import java.util.Locale;

/**
 * One case of {@code bench grpc}.
 *
 * @param call how a message and its answer travel
 * @param client how the client waits
 * @param sizeBytes the length of a message and of its answer
 * @param connections how many connections
 * @param inFlight how many calls, or messages on a stream, an asynchronous client has under way
 * @param eventLoops how many event loops each side has
 */
record GrpcTrial(
    Call call, Client client, int sizeBytes, int connections, int inFlight, int eventLoops)
    implements Trial {

  /** How a message and its answer travel. */
  enum Call {
    /** A call for each. */
    UNARY,
    /** One stream on each connection, both ways. */
    STREAMING;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** How a client waits. */
  enum Client {
    /** A thread for each connection, with one message under way. */
    BLOCKING,
    /** Called back on the event loops, with several under way. */
    ASYNC;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What both sides are told.
   *
   * @param trial what
   * @param timing how long
   */
  record Job(GrpcTrial trial, Timing timing) {}

  @Override
  public Job job(Timing timing) {
    return new Job(this, timing);
  }

  @Override
  public String id() {
    return call + "/" + client + "/" + sizeBytes + "/" + connections;
  }

  @Override
  public String label() {
    String many = connections == 1 ? "" : ", " + connections + " connections";
    String window = client == Client.ASYNC ? " × " + inFlight : "";
    return call + ", " + client + window + ", " + Units.bytes(sizeBytes) + many;
  }
}
