// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.ucx.transport.ClosingEndpoints;
import io.talaria.ucx.transport.FailureCheck;
import io.talaria.ucx.transport.OwnedWorker;
import io.talaria.ucx.transport.SendsInFlight;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The package {@code transport}: what Talaria's transports on UCX have in common. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class TransportPartsTest {
  /** So long a message waits until the receiver takes it. */
  private static final int LONG = 1 << 20;

  private static final long ALL_BITS = -1;

  /** Sends of the left worker, each of which stays in flight until its message is received. */
  private static final class Sender implements AutoCloseable {
    final Pair pair = new Pair(ErrorHandling.PEER, Feature.TAG);
    final Arena arena = Arena.ofShared();
    final MemorySegment from = Pair.pattern(arena, LONG);
    final MemorySegment to = arena.allocate(LONG);
    final SendsInFlight sends;

    Sender(int capacity, int max) {
      sends = new SendsInFlight(pair.left, capacity, max);
    }

    void send(long tag) {
      long request = pair.toRight.sendTag(from, 0, LONG, tag, 0);
      assertThat(request).isPositive();
      sends.add(request, tag);
    }

    void receive(long tag) {
      long request = pair.right.receiveTag(to, 0, LONG, tag, ALL_BITS);
      assertThat(pair.finish(pair.right, request)).isZero();
    }

    void awaitOldest() {
      pair.until(() -> sends.pollOldest() != Status.IN_PROGRESS);
    }

    @Override
    public void close() {
      pair.close();
      arena.close();
    }
  }

  @Test
  void sendsAreTakenOutInOrderThoughLaterOnesAreCompletedFirst() {
    try (Sender sender = new Sender(4, 4)) {
      sender.send(10);
      sender.send(11);
      sender.sends.add(0, 12); // was completed at once
      assertThat(sender.sends.hasRoomFor(1)).isTrue();
      assertThat(sender.sends.hasRoomFor(2)).isFalse();
      sender.receive(11);
      for (int i = 0; i < 100; i++) {
        sender.pair.progress();
      }
      assertThat(sender.sends.pollOldest()).isEqualTo(Status.IN_PROGRESS);
      assertThat(sender.sends.size()).isEqualTo(3);
      assertThat(sender.sends.oldestMark()).isEqualTo(10);
      sender.receive(10);
      sender.awaitOldest();
      assertThat(sender.sends.oldestMark()).isEqualTo(11);
      sender.awaitOldest();
      assertThat(sender.sends.oldestMark()).isEqualTo(12);
      assertThat(sender.sends.pollOldest()).isEqualTo(Status.OK);
      assertThat(sender.sends.isEmpty()).isTrue();
      assertThat(sender.pair.left.requestsHeld()).isZero();
    }
  }

  @Test
  void aQueueThatGrowsKeepsItsOrder() {
    try (Sender sender = new Sender(2, 8)) {
      sender.send(0);
      sender.receive(0);
      sender.awaitOldest(); // so that the oldest is not at the beginning
      for (int i = 1; i <= 8; i++) {
        sender.send(i);
      }
      assertThat(sender.sends.hasRoomFor(1)).isFalse();
      assertThatIllegalStateException()
          .isThrownBy(() -> sender.sends.add(0, 9))
          .withMessage("there are 8 sends in flight");
      for (int i = 8; i >= 1; i--) {
        sender.receive(i);
      }
      for (int i = 1; i <= 8; i++) {
        assertThat(sender.sends.oldestMark()).isEqualTo(i);
        sender.awaitOldest();
      }
      assertThat(sender.sends.isEmpty()).isTrue();
    }
  }

  @Test
  void noTwoSendsInFlightHaveTheSameSlot() {
    try (Sender sender = new Sender(4, 4)) {
      for (int i = 0; i < 10; i++) {
        int slot = sender.sends.nextSlot();
        sender.sends.add(0, i);
        assertThat(sender.sends.oldestSlot()).isEqualTo(slot);
        int second = sender.sends.nextSlot();
        assertThat(second).isNotEqualTo(slot).isBetween(0, 3);
        assertThat(sender.sends.pollOldest()).isEqualTo(Status.OK);
        assertThat(sender.sends.nextSlot()).isEqualTo(second);
      }
    }
  }

  @Test
  void theSizesOfAQueueArePowersOfTwo() {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.TAG)) {
      assertThatIllegalArgumentException().isThrownBy(() -> new SendsInFlight(pair.left, 3, 4));
      assertThatIllegalArgumentException().isThrownBy(() -> new SendsInFlight(pair.left, 4, 6));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new SendsInFlight(pair.left, 8, 4))
          .withMessage("capacity 8, max 4: powers of two in order are needed");
    }
  }

  @Test
  void anEndpointIsPolledForSomeRoundsAfterItsLastSend() {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.STREAM)) {
      pair.wireUpStreams();
      ClosingEndpoints closing = new ClosingEndpoints(pair.left);
      assertThat(closing.poll()).isFalse();
      AtomicBoolean sending = new AtomicBoolean(true);
      closing.add(pair.toRight.closeForced(), sending::get);
      for (int i = 0; i < 100; i++) {
        pair.progress();
        assertThat(closing.poll()).isTrue();
      }
      sending.set(false);
      int rounds = 1;
      for (; closing.poll(); rounds++) {
        pair.progress();
      }
      assertThat(rounds).isEqualTo(ClosingEndpoints.ROUNDS);
      assertThat(pair.left.requestsHeld()).isZero();
    }
  }

  @Test
  void closingIsAwaitedForALimitedTime() {
    try (Pair pair = new Pair(ErrorHandling.PEER, Feature.STREAM)) {
      pair.wireUpStreams();
      ClosingEndpoints closing = new ClosingEndpoints(pair.left);
      closing.add(pair.toRight.closeFlushing());
      assertThat(closing.await(Pair.LIMIT_NS)).isTrue();
      closing.add(0, () -> true);
      assertThat(closing.await(1_000_000)).isFalse();
    }
  }

  @Test
  void aFailedEndpointIsFoundInOneOfManyRoundsUntilItIsClosed() {
    try (Config config = Pair.config().set("TLS", "tcp,self");
        Context context = Context.open(Context.Options.of(Feature.STREAM), config);
        Worker left = Worker.open(context, Worker.Options.defaults())) {
      Worker right = Worker.open(context, Worker.Options.defaults());
      Endpoint toRight = left.connect(Endpoint.Options.to(right.address()));
      toRight.attach("right");
      List<String> found = new ArrayList<>();
      FailureCheck failures =
          new FailureCheck(left, (attachment, reason) -> found.add(attachment + ": " + reason));
      failures.now();
      assertThat(found).isEmpty();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment one = arena.allocate(1);
        Endpoint toLeft = right.connect(Endpoint.Options.to(left.address()));
        assertThat(toRight.sendStream(one, 0, 1, 0)).isNotNegative();
        StreamChunk chunk = new StreamChunk();
        Runnable progress =
            () -> {
              left.progress();
              right.progress();
            };
        Pair.until(() -> toLeft.receiveStream(chunk) > 0, progress);
      }
      right.close();
      Pair.until(() -> toRight.failure() != 0, left::progress);
      int rounds = 0;
      for (; found.isEmpty(); rounds++) {
        failures.round();
      }
      assertThat(rounds).isEqualTo(1 << 12);
      String reason = FailureCheck.reason(toRight.failure());
      assertThat(reason).startsWith("UCX says: ");
      failures.now();
      assertThat(found).containsExactly("right: " + reason, "right: " + reason);
      assertThat(toRight.closeForced()).isNotNegative();
      failures.now();
      assertThat(found).hasSize(2);
    }
  }

  @Test
  void allFailedEndpointsAreFoundAtOnce() {
    int many = 130;
    try (Config config = Pair.config().set("TLS", "tcp,self");
        Context context = Context.open(Context.Options.of(Feature.TAG), config);
        Worker left = Worker.open(context, Worker.Options.defaults());
        Arena arena = Arena.ofConfined()) {
      Worker right = Worker.open(context, Worker.Options.defaults());
      Runnable progress =
          () -> {
            left.progress();
            right.progress();
          };
      MemorySegment one = arena.allocate(1);
      MemorySegment in = arena.allocate(1);
      List<Endpoint> endpoints = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        Endpoint endpoint = left.connect(Endpoint.Options.to(right.address()));
        endpoint.attach(i);
        endpoints.add(endpoint);
        long received = right.receiveTag(in, 0, 1, i, -1);
        long sent = endpoint.sendTag(one, 0, 1, i, 0);
        Pair.until(() -> right.poll(received) != Status.IN_PROGRESS, progress);
        Pair.until(() -> sent <= 0 || left.poll(sent) != Status.IN_PROGRESS, progress);
      }
      right.close();
      Pair.until(() -> endpoints.stream().allMatch(e -> e.failure() != 0), left::progress);
      List<Object> found = new ArrayList<>();
      new FailureCheck(left, (attachment, reason) -> found.add(attachment)).now();
      assertThat(found).hasSize(many).doesNotHaveDuplicates();
      found.clear();
      FailureCheck closingAll =
          new FailureCheck(
              left,
              (attachment, reason) -> {
                found.add(attachment);
                endpoints.forEach(Endpoint::close);
              });
      closingAll.now();
      assertThat(found).as("those that were still open").hasSize(1);
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }

  @Test
  void anOwnedWorkerIsArmedAndClosedWithItsContext() throws Exception {
    long before = descriptors();
    OwnedWorker owned =
        OwnedWorker.open(
            Context.Options.of(Feature.TAG, Feature.WAKEUP),
            Map.of("TLS", "posix"),
            OwnedWorker.Deaths.FOUND_BY_UCX);
    owned.worker().enter();
    assertThat(owned.address().toBytes()).isEqualTo(owned.worker().address().toBytes());
    assertThat(owned.eventDescriptor()).isEqualTo(owned.worker().eventDescriptor());
    owned.worker().exit();
    owned.close();
    assertThat(owned.worker().isOpen()).isFalse();
    assertThat(descriptors()).isEqualTo(before);
  }

  @Test
  void aWorkerThatCannotBeOwnedLeavesNothing() throws Exception {
    long before = descriptors();
    assertThatThrownBy(
            () ->
                OwnedWorker.open(
                    Context.Options.of(Feature.TAG), Map.of(), OwnedWorker.Deaths.TOLD))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("UCX does not work here: ")
        .hasMessageContaining("WAKEUP");
    assertThatThrownBy(
            () ->
                OwnedWorker.open(
                    Context.Options.of(Feature.TAG, Feature.WAKEUP),
                    Map.of("TLS", "nothing"),
                    OwnedWorker.Deaths.TOLD))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("UCX does not work here: ");
    assertThat(descriptors()).isEqualTo(before);
  }
}
