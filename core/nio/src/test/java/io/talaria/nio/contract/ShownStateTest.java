// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What can be seen of a connection from outside is true in the end. */
@Timeout(120)
class ShownStateTest {
  private static final int CONNECTIONS = 40;
  private static final Set<Reason> ENDED_EARLY =
      EnumSet.of(Reason.CLOSED_EARLY, Reason.REFUSED, Reason.NO_OFFER, Reason.NOT_MATCHED);

  /** How a connection begins to end while it may still be negotiated. */
  enum Ending {
    CLIENT_CLOSES,
    SERVER_CLOSES,
    CLIENT_FINISHES,
    SERVER_FINISHES,
    SERVER_STOPS_READING;

    void apply(Pair pair) throws Exception {
      switch (this) {
        case CLIENT_CLOSES -> pair.client.close();
        case SERVER_CLOSES -> pair.server.close();
        case CLIENT_FINISHES -> pair.client.shutdownOutput();
        case SERVER_FINISHES -> pair.server.shutdownOutput();
        case SERVER_STOPS_READING -> pair.server.shutdownInput();
        default -> throw new AssertionError(this);
      }
    }
  }

  private static ConnectionInfo shown(SocketChannel channel, Role role) throws Exception {
    InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
    return Connections.snapshot().stream()
        .filter(info -> info.role() == role && local.equals(info.local()))
        .findFirst()
        .orElseThrow();
  }

  private static ConnectionInfo await(
      SocketChannel channel, Role role, Predicate<ConnectionInfo> state) throws Exception {
    long start = System.nanoTime();
    ConnectionInfo info = shown(channel, role);
    while (!state.test(info)) {
      assertThat(System.nanoTime() - start).as("%s", info).isLessThan(10_000_000_000L);
      Thread.sleep(1);
      info = shown(channel, role);
    }
    return info;
  }

  private static void assertDecided(SocketChannel channel, Role role) throws Exception {
    if (channel.isOpen()) {
      ConnectionInfo info = await(channel, role, i -> i.reason() != Reason.PENDING);
      if (info.transport() == NioTransport.TCP) {
        assertThat(info.reason()).as("%s", info).isIn(ENDED_EARLY);
      }
    }
  }

  @Test
  void theRingsOfAnAcceleratedConnectionHaveTheirSizes() throws Exception {
    try (Pair pair = Variant.ACCELERATED.pair()) {
      assertRings(pair.client, Role.CLIENT, 1 << 10, 1 << 10);
      assertRings(pair.server, Role.ACCEPTED, 1 << 10, 1 << 10);
      ByteBuffer more = ByteBuffer.allocate(2 << 10);
      pair.client.write(more);
      more.clear();
      while (more.hasRemaining()) {
        pair.server.read(more);
      }
      assertRings(pair.client, Role.CLIENT, 1 << 10, 32 << 10);
      assertRings(pair.server, Role.ACCEPTED, 32 << 10, 1 << 10);
    }
  }

  private static void assertRings(SocketChannel channel, Role role, int inBytes, int outBytes)
      throws Exception {
    ConnectionInfo info = shown(channel, role);
    assertThat(info.transport()).isEqualTo(NioTransport.SHM);
    assertThat(info.ringInBytes()).isEqualTo(inBytes);
    assertThat(info.ringOutBytes()).isEqualTo(outBytes);
  }

  @ParameterizedTest
  @EnumSource
  void aConnectionThatEndsBeforeItIsUpgradedDoesNotNegotiateForEver(Ending ending)
      throws Exception {
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      Pair pair = Variant.NEGOTIATING.pair();
      pairs.add(pair);
      Thread.sleep(0, i * 50_000 % 1_000_000); // somewhere in the negotiation
      ending.apply(pair);
    }
    for (Pair pair : pairs) {
      if (pair.server.isOpen() && pair.client.isOpen()) {
        pair.server.configureBlocking(false); // a half-closed connection is used on
        pair.client.configureBlocking(false);
        pair.server.read(ByteBuffer.allocate(1));
        pair.client.read(ByteBuffer.allocate(1));
      }
      assertDecided(pair.client, Role.CLIENT);
      assertDecided(pair.server, Role.ACCEPTED);
      pair.close();
    }
  }
}
