// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.verbs.Access;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class RemoteMemoryTest {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  @Test
  void memoryOfAPeerIsReadWrittenAndAddedTo() throws Exception {
    AtomicReference<RemoteMemory> got = new AtomicReference<>();
    try (Pair pair =
        new Pair(Pair.options(), (c, m) -> got.set(RemoteMemory.load(m.segment(), 0)))) {
      Connection connection = pair.connect((c, m) -> {});
      RegisteredMemory own =
          pair.left.allocate(
              1 << 20, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
      Slice slice = connection.awaitSlice(Pair.LIMIT_NS);
      own.handle().store(slice.memory(), 0);
      assertThat(connection.send(slice, RemoteMemory.BYTES)).isEqualTo(Connection.SENT);
      Pair.await("the handle", () -> got.get() != null);
      assertThat(got.get()).isEqualTo(own.handle());

      RegisteredMemory there =
          pair.right.allocate(
              1 << 20, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
      RemoteMemory remote = there.handle();
      for (int i = 0; i < 1 << 20; i += 8) {
        own.segment().set(LONG, i, i * 31L);
      }
      Object ignored =
          connection.write(remote, 0, own, 0, 1 << 20).get(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
      assertThat(there.segment().mismatch(own.segment())).isEqualTo(-1);
      own.segment().fill((byte) 0);
      ignored =
          connection.read(remote, 8, own, 16, 1 << 19).get(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
      assertThat(own.segment().asSlice(16, 1 << 19).mismatch(there.segment().asSlice(8, 1 << 19)))
          .isEqualTo(-1);

      there.segment().set(LONG, 64, 40);
      AtomicInteger over = new AtomicInteger();
      OperationListener listener =
          (c, token, status) -> {
            if (status == OperationListener.DONE && token == 9) {
              over.incrementAndGet();
            }
          };
      assertThat(connection.fetchAdd(remote, 64, 2, own, 0, 9, listener)).isZero();
      Pair.await("the sum", () -> over.get() == 1);
      assertThat(own.segment().get(LONG, 0)).isEqualTo(40);
      assertThat(connection.compareSwap(remote, 64, 42, 7, own, 8, 9, listener)).isZero();
      Pair.await("the swap", () -> over.get() == 2);
      assertThat(own.segment().get(LONG, 8)).isEqualTo(42);
      assertThat(connection.compareSwap(remote, 64, 42, 8, own, 8, 9, listener)).isZero();
      Pair.await("no swap", () -> over.get() == 3);
      assertThat(own.segment().get(LONG, 8)).isEqualTo(7);
      assertThat(there.segment().get(LONG, 64)).isEqualTo(7);
    }
  }

  @Test
  void boundsAndOwnersAreChecked() throws Exception {
    try (Pair pair = new Pair(Pair.options(), (c, m) -> {});
        Arena arena = Arena.ofConfined()) {
      Connection connection = pair.connect((c, m) -> {});
      RegisteredMemory there = pair.right.allocate(4096, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
      RegisteredMemory here = pair.left.allocate(4096);
      RemoteMemory remote = there.handle();
      assertThatThrownBy(() -> connection.read(remote, 4090, here, 0, 8))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> connection.read(remote, -1, here, 0, 8))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> connection.read(remote, 0, here, 4090, 8))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> connection.read(remote, 0, here, 0, 0))
          .hasMessage("an operation on 0 bytes");
      assertThatThrownBy(() -> connection.fetchAdd(remote, 4, 1, here, 0, 0, (c, t, s) -> {}))
          .hasMessageContaining("multiple of 8");
      assertThatThrownBy(() -> connection.read(remote, 0, there, 0, 8))
          .hasMessage("the registered memory is of another node");
      assertThatThrownBy(() -> connection.read(here.handle(), 0, here, 0, 8))
          .hasMessage("the remote memory is not of this connection's peer");
      MemorySegment damaged = arena.allocate(RemoteMemory.BYTES);
      remote.store(damaged, 0);
      assertThat(RemoteMemory.load(damaged, 0)).isEqualTo(remote);
      damaged.set(ValueLayout.JAVA_BYTE, 20, (byte) 99);
      assertThatThrownBy(() -> RemoteMemory.load(damaged, 0)).hasMessageContaining("checksum");
      here.close();
      here.close();
      assertThatThrownBy(() -> connection.read(remote, 0, here, 0, 8))
          .hasMessage("the memory is closed");
    }
  }

  @Test
  void whatThePeerHasNotAllowedFailsAndClosesTheConnection() throws Exception {
    try (Pair pair = new Pair(Pair.options(), (c, m) -> {})) {
      Connection connection = pair.connect((c, m) -> {});
      RegisteredMemory there = pair.right.allocate(4096, Access.REMOTE_READ);
      RegisteredMemory here = pair.left.allocate(4096);
      assertThatThrownBy(
              () ->
                  connection
                      .write(there.handle(), 0, here, 0, 8)
                      .get(Pair.LIMIT_NS, TimeUnit.NANOSECONDS))
          .hasCauseInstanceOf(IOException.class)
          .hasMessageContaining("the operation failed: ");
      assertThat(Pair.closed(connection).kind())
          .isIn(CloseReason.Kind.FAILED, CloseReason.Kind.PEER);
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }

  @Test
  void largeMessagesArriveWholeAndInOrder() throws Exception {
    int[] lengths = {1, 4096, 4097, 100_000, 1 << 20, 3, 5_000_000};
    AtomicLong wrong = new AtomicLong();
    AtomicInteger next = new AtomicInteger();
    ConnectionHandler handler =
        (c, m) -> {
          int length = lengths[next.get() % lengths.length];
          if (m.length() != length
              || m.byteAt(0) != (byte) length
              || m.byteAt(length - 1) != (byte) (length == 1 ? length : -length)) {
            wrong.incrementAndGet();
          }
          assertThatThrownBy(m::keep).hasMessageContaining("a large message cannot be kept");
          next.incrementAndGet();
        };
    try (Pair pair = new Pair(Pair.options().window(2), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      AtomicInteger freed = new AtomicInteger();
      OperationListener listener =
          (c, token, status) -> {
            if (status == OperationListener.DONE) {
              freed.incrementAndGet();
            }
          };
      int sent = 0;
      for (int round = 0; round < 3; round++) {
        for (int length : lengths) {
          RegisteredMemory memory = pair.left.allocate(length, Access.REMOTE_READ);
          memory.segment().set(ValueLayout.JAVA_BYTE, length - 1, (byte) -length);
          memory.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) length);
          int result;
          long endNs = System.nanoTime() + Pair.LIMIT_NS;
          while ((result = connection.sendLarge(memory, 0, length, 0, listener))
              == Connection.BACK_PRESSURED) {
            assertThat(System.nanoTime()).isLessThan(endNs);
            Thread.yield();
          }
          assertThat(result).isEqualTo(Connection.SENT);
          sent++;
        }
      }
      int all = sent;
      Pair.await("all", () -> next.get() == all);
      Pair.await("all memory back", () -> freed.get() == all);
      assertThat(wrong.get()).isZero();
      assertThat(pair.right.metrics().largeIn()).isEqualTo(all);
      assertThatThrownBy(
              () ->
                  connection.sendLarge(
                      pair.left.allocate(1 << 25, Access.REMOTE_READ), 0, 1 << 25, 0, listener))
          .hasMessageContaining(
              "a large message of 33554432 bytes, but the peer takes 1 to 16777216");
    }
  }

  @Test
  void largeMessagesOfConnectionsShareTheMemoryThatTheyMayHave() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    NetOptions.Builder right = Pair.options().largeBytes(1 << 20).largeMemoryBytes(1 << 20);
    try (Pair pair = new Pair(Pair.options(), right, (c, m) -> seen.incrementAndGet())) {
      RegisteredMemory memory = pair.left.allocate(1 << 20, Access.REMOTE_READ);
      AtomicInteger freed = new AtomicInteger();
      for (int i = 0; i < 4; i++) {
        Connection connection = pair.connect((c, m) -> {});
        for (int n = 0; n < LargeMessages.MAX_MESSAGES; n++) {
          assertThat(
                  connection.sendLarge(
                      memory, 0, 1 << (17 + n), 0, (c, t, s) -> freed.incrementAndGet()))
              .isEqualTo(Connection.SENT);
        }
        assertThat(connection.sendLarge(memory, 0, 1, 0, (c, t, s) -> {}))
            .isIn(Connection.BACK_PRESSURED, Connection.SENT);
      }
      Pair.await("all", () -> freed.get() == 4 * LargeMessages.MAX_MESSAGES);
      assertThat(seen.get()).isGreaterThanOrEqualTo(4 * LargeMessages.MAX_MESSAGES);
    }
  }

  @Test
  void largeMessagesThatTheCloseOvertakesAreReportedAndTheirMemoryIsFree() throws Exception {
    java.util.concurrent.CountDownLatch goOn = new java.util.concurrent.CountDownLatch(1);
    ConnectionHandler handler =
        (c, m) -> {
          try {
            goOn.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        };
    try (Pair pair = new Pair(Pair.options().lingerMs(50), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      RegisteredMemory memory = pair.left.allocate(1 << 16, Access.REMOTE_READ);
      AtomicInteger closed = new AtomicInteger();
      for (int i = 0; i < LargeMessages.MAX_MESSAGES; i++) {
        assertThat(
                connection.sendLarge(
                    memory,
                    0,
                    1 << 16,
                    i,
                    (c, t, s) -> closed.addAndGet(s == OperationListener.CLOSED ? 1 : 0)))
            .isEqualTo(Connection.SENT);
      }
      assertThatThrownBy(memory::close)
          .hasMessageContaining("operations with this memory are under way");
      connection.close();
      CloseReason ignored = Pair.closed(connection);
      assertThat(closed.get()).isEqualTo(LargeMessages.MAX_MESSAGES);
      memory.close();
      goOn.countDown();
    }
  }
}
