// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.config.Config;
import io.talaria.nio.hosts.HostRules;
import io.talaria.nio.hosts.HostSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/** Two processes that take each other for ones of other hosts, on the loopback address. */
final class HostPair {
  static final int OFFSET = 10_000;
  static final String ALL = "connect 127.0.0.0/8 *\nbind 127.0.0.0/8 *\n";

  private static final AtomicInteger PORTS = new AtomicInteger(1);

  final FakeTransport serverTransport = new FakeTransport();
  final FakeTransport clientTransport = new FakeTransport();
  final Node server;
  final Node client;

  /** A service port whose rendezvous port is free. */
  final int port;

  HostPair(Path dir) throws Exception {
    this(dir, settings(dir, ALL, 1), settings(dir, ALL, 1));
  }

  HostPair(Path dir, HostSettings ofServer, HostSettings ofClient) throws Exception {
    server = new Node(dir.resolve("server"), serverTransport, ofServer);
    client = new Node(dir.resolve("client"), clientTransport, ofClient);
    port = freePort();
    server.settle(); // their directories are made: nothing is when a test has ended
    client.settle();
  }

  static HostSettings settings(Path dir, String rules, int key) throws IOException {
    return HostSettings.of(
        HostRules.read(Files.writeString(dir.resolve("rules"), rules)), key(key), OFFSET);
  }

  static byte[] key(int content) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) content);
    return key;
  }

  static HostSettings fromProperties(String rules, String key) {
    System.setProperty(Config.RULES, rules);
    System.setProperty(Config.KEY, key);
    try {
      return HostSettings.load(Config.load());
    } finally {
      System.clearProperty(Config.RULES);
      System.clearProperty(Config.KEY);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return probe.getLocalPort() - OFFSET;
    }
  }

  InetSocketAddress rendezvous() {
    return new InetSocketAddress("127.0.0.1", port + OFFSET);
  }

  /** A connection of the client's that stands, with the port given or a new one. */
  FakeChannel connect() {
    FakeChannel channel = new FakeChannel(FakeChannel.key(PORTS.getAndIncrement(), port));
    client.negotiator.connectedToHost(channel);
    return channel;
  }

  /** The other end of a connection, once the server's program has accepted it. */
  FakeChannel accept(FakeChannel other) {
    FakeChannel channel = new FakeChannel(other.key());
    server.negotiator.accepted(channel);
    return channel;
  }
}
