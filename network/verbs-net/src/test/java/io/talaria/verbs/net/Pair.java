// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Two nodes of one process, of which the left one connects and the right one listens. */
final class Pair implements AutoCloseable {
  static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(Provider.isDevice() ? 240 : 60);

  private static final int LOOKS = 100;
  private static final long PAUSE_NS = 200_000;

  final VerbsNode left;
  final VerbsNode right;
  final InetSocketAddress address;
  private final long notReady = Provider.notReady();

  Pair(NetOptions.Builder options, ConnectionHandler server) throws IOException {
    this(options, options, server);
  }

  Pair(NetOptions.Builder one, NetOptions.Builder other, ConnectionHandler server)
      throws IOException {
    left = VerbsNode.open(one.build());
    right = VerbsNode.open(other.build());
    address = right.listen(new InetSocketAddress(where(other), 0), server);
  }

  private static InetAddress where(NetOptions.Builder options) {
    return options.build().rdmaCm() ? Provider.address() : InetAddress.getLoopbackAddress();
  }

  /** The same by RDMA CM. */
  static NetOptions.Builder cm() {
    return options().rdmaCm().insecure();
  }

  /** One thread each way, so that tests are the same on any machine. */
  static NetOptions.Builder options() {
    // On an emulated or busy machine a handshake takes seconds.
    return NetOptions.builder().sendThreads(1).receiveThreads(1).connections(8).handshakeMs(60_000);
  }

  Connection connect(ConnectionHandler handler) throws IOException {
    return left.connect(address, handler);
  }

  static void await(String what, BooleanSupplier condition) {
    long endNs = System.nanoTime() + LIMIT_NS;
    for (int looks = 0; !condition.getAsBoolean(); looks++) {
      if (System.nanoTime() > endNs) {
        throw new AssertionError("it did not come to this: " + what);
      }
      if (looks < LOOKS) {
        Thread.onSpinWait();
      } else {
        // On one processor a thread that polls without a pause keeps the core from what it waits
        // for.
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  static CloseReason closed(Connection connection) throws Exception {
    return connection.whenClosed().get(LIMIT_NS, TimeUnit.NANOSECONDS);
  }

  /** Sends two words, and waits until that is possible. */
  static void send(Connection connection, long first, long second) throws InterruptedException {
    Slice slice = connection.awaitSlice(LIMIT_NS);
    assertThat(slice).as("a slice").isNotNull();
    MemorySegment memory = slice.memory();
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, first);
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, second);
    int result;
    while ((result = connection.send(slice, 16)) == Connection.BACK_PRESSURED) {
      assertThat(connection.awaitSpace(LIMIT_NS)).as("room").isTrue();
    }
    assertThat(result).isEqualTo(Connection.SENT);
  }

  /** Sends a word back to where it came from; by a handler that is sure to have room. */
  static void answer(Connection connection, long word) {
    Slice slice = connection.borrow();
    slice.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, word);
    if (connection.send(slice, 8) != Connection.SENT) {
      throw new AssertionError("no room for an answer");
    }
  }

  /** That nothing is left over, and that no message found its receiver unprepared. */
  @Override
  public void close() {
    left.close();
    right.close();
    for (VerbsNode node : new VerbsNode[] {left, right}) {
      assertThat(node.metrics().connections()).as("connections").isZero();
      assertThat(node.metrics().slicesOut()).as("slices that did not come back").isZero();
    }
    assertThat(Provider.notReady() - notReady).as("sends without a receive request").isZero();
  }
}
