// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.hosts.HostNegotiation;
import io.talaria.nio.hosts.HostSettings;
import io.talaria.nio.transport.TransportProvider;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One process's negotiation, with what it has logged. Its thread is a daemon and stays. */
final class Node {
  private static final long DEADLINE_S = 20;

  final Negotiator negotiator;
  final Path directory;
  final List<String> log = new CopyOnWriteArrayList<>();

  Node(Path directory, TransportProvider transport) {
    this(directory, transport, SelectorProvider.provider());
  }

  Node(Path directory, TransportProvider transport, SelectorProvider jdk) {
    this(directory, transport, jdk, null, false);
  }

  /** One that reaches other hosts, by the same transport. */
  Node(Path directory, TransportProvider transport, HostSettings hosts) {
    this(directory, transport, SelectorProvider.provider(), hosts, false);
  }

  /** One that shares memory with other network namespaces. */
  static Node sharing(Path directory, TransportProvider transport) {
    return new Node(directory, transport, SelectorProvider.provider(), null, true);
  }

  private Node(
      Path directory,
      TransportProvider transport,
      SelectorProvider jdk,
      HostSettings hosts,
      boolean sharesNamespaces) {
    this.directory = directory;
    negotiator =
        new Negotiator(
            jdk,
            new PrivateDirectory(directory, Reason.NO_RUNTIME_DIR),
            List.of(transport),
            hosts == null ? null : new HostNegotiation(hosts, List.of(transport)),
            sharesNamespaces,
            (line, cause) -> log.add(line));
  }

  /** Announces a listener on the loopback address and waits for what became of it. */
  Reason announce(int port) throws Exception {
    CompletableFuture<Reason> outcome = new CompletableFuture<>();
    announcement = negotiator.announce(new InetSocketAddress("127.0.0.1", port), outcome::complete);
    return outcome.get(DEADLINE_S, TimeUnit.SECONDS);
  }

  Announcement announcement;

  /** Waits until the negotiation thread has done all that it was asked so far. */
  void settle() throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    negotiator.execute(done::countDown);
    if (!done.await(DEADLINE_S, TimeUnit.SECONDS)) {
      throw new AssertionError("the negotiation thread hangs; log: " + log);
    }
  }

  /** Holds the negotiation thread until the latch that is returned is counted down. */
  CountDownLatch hold() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    negotiator.execute(
        () -> {
          held.countDown();
          try {
            release.await(DEADLINE_S, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    if (!held.await(DEADLINE_S, TimeUnit.SECONDS)) {
      throw new AssertionError("the negotiation thread hangs; log: " + log);
    }
    return release;
  }

  /** Names in the directory that begin so. */
  List<String> files(String prefix) throws Exception {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, prefix + "*")) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    }
    return names;
  }

  Path announced(int port) throws Exception {
    List<String> names = files(Announcement.namePrefix(port));
    if (names.size() != 1) {
      throw new AssertionError("announcements of port " + port + ": " + names);
    }
    return directory.resolve(names.get(0));
  }

  void assertNoFailure() {
    for (String line : log) {
      if (line.startsWith(Reason.INTERNAL.code())) {
        throw new AssertionError(line);
      }
    }
  }
}
