// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.bench.result.Group;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** What the names in a report mean; only of those that are in it. */
final class Names {
  private Names() {}

  /** Returns names and what they mean, in the order in which they are to be read. */
  static Map<String, String> of(List<Group> groups) {
    Map<String, String> names = new LinkedHashMap<>();
    List<LinkImplementation> implementations =
        groups.stream().map(group -> group.rows().get(0).implementation()).distinct().toList();
    for (BindingKind binding :
        new TreeSet<>(implementations.stream().map(LinkImplementation::binding).toList())) {
      names.put(binding.label(), meaning(binding));
    }
    for (SocketTransport transport :
        new TreeSet<>(implementations.stream().map(LinkImplementation::transport).toList())) {
      if (transport != SocketTransport.DIRECT) {
        names.put(transport.label(), meaning(transport));
      }
    }
    if (!groups.isEmpty()) {
      names.put("size", "bytes of payload in a message");
      names.put("messages", "messages a second, of all connections together");
      names.put("payload", "bytes of payload a second");
      names.put(
          Column.AGAINST_TCP,
          "the same library and case on the JDK's sockets: how many times as many messages a"
              + " second, or as short a median");
      names.put(
          Column.WIRE,
          "bytes that ports of the network counted for each byte of payload; nothing goes there"
              + " through shared memory");
    }
    return names;
  }

  private static String meaning(BindingKind binding) {
    return switch (binding) {
      case NET -> "java.net.Socket and its streams";
      case NIO -> "SocketChannel, blocking";
      case NIO_SELECT -> "SocketChannel with a selector that sleeps";
      case NIO_SPIN -> "SocketChannel with a selector that is asked over and over (selectNow)";
      case NETTY -> "Netty on its event loops";
      case UCX_STREAM -> "UCX without sockets: streams";
      case UCX_STREAM_DATA -> "UCX without sockets: streams, received in place";
      case UCX_TAG -> "UCX without sockets: messages by tag";
      case UCX_TAG_SYNC -> "UCX without sockets: messages by tag that wait for the receiver";
      case UCX_AM -> "UCX without sockets: active messages";
      case UCX_PUT -> "UCX without sockets: writing into the peer's memory";
      case UCX_GET -> "UCX without sockets: reading the peer's memory";
      case JUCX -> "UCX's own Java binding: messages by tag";
      case VERBS_MESSAGE -> "RDMA verbs without sockets: send and receive requests";
      case VERBS_WRITE -> "RDMA verbs without sockets: writing into the peer's memory";
      case VERBS_READ -> "RDMA verbs without sockets: reading the peer's memory";
      case VERBS_NET -> "the library verbs-net: messages over RDMA verbs";
      default -> "UCX without sockets: an atomic on the peer's memory";
    };
  }

  private static String meaning(SocketTransport transport) {
    return switch (transport) {
      case TCP -> "the JDK's sockets, nothing added (dashed lines)";
      case SHM -> "Talaria on shared memory (solid lines)";
      case UCX -> "Talaria on UCX (dotted lines)";
      case DIRECT -> "the library brings its own transport";
    };
  }
}
