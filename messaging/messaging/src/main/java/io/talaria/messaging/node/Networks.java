// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.ucx.UcxTransport;
import io.talaria.messaging.verbs.VerbsTransport;
import io.talaria.nio.spin.Spinning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The network transports of a node, in the order in which connections use them. */
public final class Networks {
  private static final System.Logger LOG = System.getLogger("io.talaria.messaging");

  private final List<Network> all;

  private Networks(List<Network> all) {
    this.all = List.copyOf(all);
  }

  /** Opens a transport, which may find its modules missing. */
  private interface Opener {
    NetworkTransport open() throws IOException;
  }

  /**
   * Opens those for which the options ask.
   *
   * @param threadName makes the name of a thread of a part
   * @param spinning of the node's polling threads
   * @throws IOException if one cannot be used, and the options allow no transport that can
   */
  static Networks open(NodeOptions options, UnaryOperator<String> threadName, Spinning spinning)
      throws IOException {
    List<Network> all = new ArrayList<>();
    all.add(
        open(
            options,
            Transport.VERBS,
            HandshakeMessage.VERBS,
            () ->
                VerbsTransport.open(
                    threadName,
                    options.maxConnections(),
                    new int[] {options.dataRingBytes(), options.controlRingBytes()},
                    options.idleStrategy(),
                    spinning)));
    all.add(
        open(
            options,
            Transport.UCX,
            HandshakeMessage.UCX,
            () -> UcxTransport.open(threadName.apply("ucx"), options.maxConnections())));
    Networks networks = new Networks(all);
    networks.requireOne(options.transports());
    return networks;
  }

  private static Network open(NodeOptions options, Transport kind, int bit, Opener opener) {
    String name = kind.code();
    if (!options.transports().contains(kind)) {
      return new Network(kind, bit, null, "transport " + name + " is off");
    }
    String reason;
    try {
      return new Network(kind, bit, opener.open(), null);
    } catch (IOException e) {
      reason = e.getMessage();
    } catch (LinkageError e) {
      reason =
          "the modules io.talaria."
              + name
              + " and io.talaria.ffi are not there: put their jars on the class path, or add"
              + " --add-modules io.talaria."
              + name
              + " ("
              + e
              + ")";
    }
    LOG.log(
        System.Logger.Level.INFO, "node " + options.id() + " goes without " + name + ": " + reason);
    return new Network(kind, bit, null, reason);
  }

  private void requireOne(Set<Transport> wanted) throws IOException {
    List<Network> asked = all.stream().filter(each -> wanted.contains(each.kind())).toList();
    if (asked.size() < wanted.size() || asked.stream().anyMatch(Network::isOpen)) {
      return;
    }
    if (asked.size() == 1) {
      throw new IOException(
          "transport "
              + asked.getFirst().name()
              + " is the only one, and cannot be used: "
              + asked.getFirst().unavailableReason());
    }
    throw new IOException(
        asked.stream()
            .map(each -> each.name() + " cannot be used: " + each.unavailableReason())
            .collect(Collectors.joining("; ", "there is no other transport: ", "")));
  }

  /** All, those that cannot be used as well. */
  public List<Network> all() {
    return all;
  }

  /** Whether there is one that can be used. */
  public boolean anyOpen() {
    return all.stream().anyMatch(Network::isOpen);
  }

  /** Those that can be used. */
  NetworkTransport[] open() {
    return all.stream()
        .filter(Network::isOpen)
        .map(Network::transport)
        .toArray(NetworkTransport[]::new);
  }

  /** The one of a bit of {@link HandshakeMessage}, or null. */
  public Network of(int bit) {
    return all.stream().filter(each -> each.bit() == bit).findAny().orElse(null);
  }

  void begin(Runnable wake, boolean looks) {
    for (NetworkTransport each : open()) {
      each.begin(wake, looks);
    }
  }

  public void close() {
    for (NetworkTransport each : open()) {
      each.close();
    }
  }
}
