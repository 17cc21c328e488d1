// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import io.talaria.nio.TalariaProvider;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/** On what a contract is tested: a difference between two variants is a bug. */
@SuppressWarnings("ImmutableEnumChecker") // Providers do not change; the listener is made once.
enum Variant {
  /** The JDK's own channels and selectors: the reference. */
  JDK(JdkNio.provider(), JdkNio.provider()),

  /** Talaria's channels with both directions on the transport. */
  ACCELERATED(Talaria.FAST, Talaria.FAST),

  /** Talaria's channels from the moment they are connected, while the negotiation is on its way. */
  NEGOTIATING(Talaria.FAST, Talaria.FAST),

  /** Talaria's channels, which stay on TCP because the run-time directory is not private. */
  PLAIN(Talaria.PLAIN, Talaria.PLAIN),

  /** Talaria's channels, which stay on TCP because their ports are left out. */
  LEFT_OUT(Talaria.LEFT_OUT, Talaria.LEFT_OUT),

  /** A client of the JDK at a listener of Talaria. */
  JDK_TO_TALARIA(JdkNio.provider(), Talaria.FAST),

  /** A client of Talaria at a listener of the JDK. */
  TALARIA_TO_JDK(Talaria.FAST, JdkNio.provider());

  private final SelectorProvider client;
  private final SelectorProvider server;
  private ServerSocketChannel listener;

  Variant(SelectorProvider client, SelectorProvider server) {
    this.client = client;
    this.server = server;
  }

  /**
   * The variants of a run: those that the property {@code talaria.test.variants} names, separated
   * by commas, or else all; with the property {@code talaria.test.transport}, which names the
   * transport of the run, those on which that makes a difference.
   */
  static List<Variant> tested() {
    if (Talaria.TRANSPORT != null) {
      return List.of(ACCELERATED, NEGOTIATING);
    }
    String named = System.getProperty("talaria.test.variants", "");
    return named.isEmpty()
        ? List.of(values())
        : Stream.of(named.split(",", -1)).map(Variant::valueOf).toList();
  }

  /** Makes the channels that connect. */
  SelectorProvider client() {
    return client;
  }

  /** Makes the channels that listen, and those that they accept. */
  SelectorProvider server() {
    return server;
  }

  /** Two connected channels in blocking mode, in the state that the name says. */
  Pair pair() throws IOException {
    Pair pair = Pair.connect(client, listener());
    if (this == ACCELERATED) {
      pair.accelerate();
    }
    return pair;
  }

  /** Brings a connection in blocking mode, on which nothing is under way, to where it belongs. */
  void settle(SocketChannel connected, SocketChannel accepted) throws IOException {
    if (this == ACCELERATED) {
      Pair.of(connected, accepted).accelerate();
    }
  }

  /** One listener for all pairs, so that a pair costs no announcement. */
  private synchronized ServerSocketChannel listener() throws IOException {
    if (listener == null) {
      listener = Pair.listen(server);
    }
    return listener;
  }

  /** The providers under test, in directories of their own. */
  private static final class Talaria {
    static final String TRANSPORT = System.getProperty("talaria.test.transport");

    static final SelectorProvider PLAIN = open("contract-open", "rwxr-xr-x");

    static final SelectorProvider LEFT_OUT = leaveOut();

    /** The last to be made, so that Connections shows its connections. */
    static final SelectorProvider FAST = open("contract-run", "rwx------");

    private static SelectorProvider leaveOut() {
      System.setProperty("talaria.ports.except", "1-65535");
      try {
        return open("contract-left-out", "rwx------");
      } finally {
        System.clearProperty("talaria.ports.except");
      }
    }

    private static SelectorProvider open(String name, String mode) {
      try {
        Path base = Path.of("target").toAbsolutePath();
        Path dir = base.resolve(name);
        Files.createDirectories(dir);
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString(mode));
        String oldDir = System.getProperty("talaria.dir");
        String oldShm = System.getProperty("talaria.shm.dir");
        String oldTransports = System.getProperty("talaria.transports");
        System.setProperty("talaria.dir", dir.toString());
        if (TRANSPORT != null) {
          System.setProperty("talaria.transports", TRANSPORT);
        }
        System.setProperty("talaria.shm.dir", base.resolve("contract-shm").toString());
        try {
          return new TalariaProvider();
        } finally {
          restore("talaria.dir", oldDir);
          restore("talaria.transports", oldTransports);
          restore("talaria.shm.dir", oldShm);
        }
      } catch (IOException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private static void restore(String name, String value) {
      if (value == null) {
        System.clearProperty(name);
      } else {
        System.setProperty(name, value);
      }
    }
  }
}
