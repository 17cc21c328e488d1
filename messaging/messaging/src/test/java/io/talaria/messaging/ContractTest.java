// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Price;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Rich;
import io.talaria.messaging.Messages.Tagged;
import io.talaria.messaging.Messages.Text;
import io.talaria.messaging.Messages.Unknown;
import io.talaria.messaging.MessagingException.Code;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a node does, over each transport. */
@Timeout(120)
class ContractTest {
  private static final Duration LONG = TestVerbs.limit();

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private Node near;
  private Node far;
  private Peer peer;

  @AfterEach
  void closeNodes() throws Exception {
    if (nodes == null) {
      return; // skipped
    }
    nodes.close();
    Waits.assertNothingLeft(directory);
  }

  private interface Setting {
    void on(NodeOptions options);
  }

  /** Two nodes, or one on LOOP; both know the types, the far one receives. */
  private void start(Variant variant, Setting both, Setting there) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    NodeOptions farOptions = nodes.options(2).sendTimeout(Duration.ofSeconds(30));
    both.on(farOptions);
    there.on(farOptions);
    far = nodes.start(farOptions);
    near = far;
    if (variant != Variant.LOOP) {
      NodeOptions nearOptions = nodes.options(1).sendTimeout(Duration.ofSeconds(30));
      both.on(nearOptions);
      near = nodes.start(nearOptions);
    }
    peer = near.peer(2);
  }

  /** Something that no record is. */
  private static StringBuilder text(String text) {
    StringBuilder built = new StringBuilder();
    built.append(text);
    return built;
  }

  private static void await(Condition condition) throws Exception {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void messagesArriveInOrder(Variant variant) throws Exception {
    for (Dispatch dispatch : new Dispatch[] {Dispatch.ORDERED}) {
      Queue<Long> got = new ConcurrentLinkedQueue<>();
      start(
          variant,
          o -> o.type(Pair.class),
          o -> o.receive(Pair.class, dispatch, (pair, from) -> got.add(pair.first())));
      int count = 100_000;
      long position = 0;
      for (int i = 0; i < count; i++) {
        position = peer.send(new Pair(i, -i));
      }
      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
      await(() -> got.size() == count);
      long next = 0;
      for (long each : got) {
        assertThat(each).isEqualTo(next++);
      }
      assertThat(peer.transport())
          .isEqualTo(variant == Variant.LOOP ? "loop" : variant.name().toLowerCase(Locale.ROOT));
    }
  }

  /** The poller reads up to 256 records in a turn, which are little of a ring that has grown. */
  @ParameterizedTest
  @EnumSource
  void deliveryIsToldWhereverATurnEnds(Variant variant) throws Exception {
    Semaphore gate = new Semaphore(0);
    start(
        variant,
        o -> o.type(Pair.class),
        o ->
            o.receive(
                Pair.class,
                Dispatch.INLINE,
                (pair, from) -> {
                  if (pair.first() == 0) {
                    gate.acquireUninterruptibly();
                  }
                }));
    for (int growths = 0; growths < 4; growths++) {
      long position = peer.send(new Pair(0, 0));
      for (int tries = 0; tries < 5; tries++) {
        long next;
        while ((next = peer.trySend(new Pair(1, 1))) > 0) {
          position = next;
        }
        Thread.sleep(10);
      }
      gate.release();
      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
    }
    for (int count : new int[] {255, 256, 257, 512}) {
      long position = 0;
      for (int i = 0; i < count; i++) {
        position = peer.send(new Pair(i, i));
      }
      CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(gate::release);
      assertThat(peer.awaitDelivered(position, LONG)).as("%d messages", count).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachDispatchTakesEachMessageOnce(Variant variant) throws Exception {
    record A(int number) {}
    record B(int number) {}
    record C(int number) {}
    record D(int number) {}
    record E(int number) {}
    int count = 3000;
    List<List<Integer>> got = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      got.add(java.util.Collections.synchronizedList(new ArrayList<>()));
    }
    start(
        variant,
        o -> o.type(A.class).type(B.class).type(C.class).type(D.class).type(E.class),
        o ->
            o.handlers(3)
                .receive(A.class, Dispatch.INLINE, (m, from) -> got.get(0).add(m.number()))
                .receive(B.class, Dispatch.ORDERED, (m, from) -> got.get(1).add(m.number()))
                .receive(C.class, Dispatch.SERIAL, (m, from) -> got.get(2).add(m.number()))
                .receive(D.class, Dispatch.CONCURRENT, (m, from) -> got.get(3).add(m.number()))
                .receive(E.class, Dispatch.VIRTUAL, (m, from) -> got.get(4).add(m.number())));
    for (int i = 0; i < count; i++) {
      peer.send(new A(i));
      peer.send(new B(i));
      peer.send(new C(i));
      peer.send(new D(i));
      peer.send(new E(i));
    }
    for (int d = 0; d < 5; d++) {
      List<Integer> each = got.get(d);
      await(() -> each.size() == count);
      List<Integer> copy = new ArrayList<>(each);
      if (d > 2) {
        copy.sort(null);
      }
      for (int i = 0; i < count; i++) {
        assertThat(copy.get(i)).as("dispatch %d", d).isEqualTo(i);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachThreadsMessagesStayInOrder(Variant variant) throws Exception {
    int threads = 8;
    int each = 5000;
    int[] next = new int[threads];
    AtomicInteger total = new AtomicInteger();
    AtomicReference<String> wrong = new AtomicReference<>();
    start(
        variant,
        o -> o.type(Tagged.class).dataRingBytes(64 << 10),
        o ->
            o.receive(
                Tagged.class,
                Dispatch.ORDERED,
                (m, from) -> {
                  if (next[m.thread()]++ != m.sequence()) {
                    wrong.set(m.thread() + ": " + m.sequence());
                  }
                  total.incrementAndGet();
                }));
    List<Thread> running = new ArrayList<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      Thread sender =
          new Thread(
              () -> {
                Random random = new Random(thread);
                try {
                  for (int i = 0; i < each; i++) {
                    int size = random.nextInt(100) == 0 ? random.nextInt(60_000) : 20;
                    peer.send(new Tagged(thread, i, new byte[size]));
                  }
                } catch (Exception | Error e) {
                  failure.set(e);
                }
              });
      running.add(sender);
      sender.start();
    }
    for (Thread sender : running) {
      sender.join();
    }
    assertThat(failure.get()).isNull();
    await(() -> total.get() == threads * each);
    assertThat(wrong.get()).isNull();
  }

  /** Around each boundary, in rings of the smallest and of the usual size. */
  @ParameterizedTest
  @EnumSource
  void allSizesArriveWhole(Variant variant) throws Exception {
    sizesArriveWhole(variant, 16 << 10, 16 << 10);
    closeNodes();
    sizesArriveWhole(variant, 1 << 20, 256 << 10);
  }

  private void sizesArriveWhole(Variant variant, int dataRingBytes, int controlRingBytes)
      throws Exception {
    Queue<Long> got = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(Bytes.class).dataRingBytes(dataRingBytes).controlRingBytes(controlRingBytes),
        o ->
            o.receive(Bytes.class, Dispatch.ORDERED, (m, from) -> got.add(checksum(m.bytes())))
                .handle(Bytes.class, Dispatch.ORDERED, (m, request) -> request.respond(m)));
    int slice = Math.min(32 << 10, Math.min(dataRingBytes, controlRingBytes) >> 3);
    TreeSet<Integer> sizes = new TreeSet<>();
    for (int around :
        new int[] {
          0,
          127,
          4096,
          slice,
          2 * slice,
          dataRingBytes / 2,
          dataRingBytes,
          2 * dataRingBytes,
          1 << 20,
          3 << 20
        }) {
      for (int header : new int[] {0, 8, 16, 24, 40}) { // of records, and what the array adds
        for (int d = -4; d <= 1; d++) {
          sizes.add(Math.max(0, around - header + d));
        }
      }
    }
    Random random = new Random(1);
    List<Long> sums = new ArrayList<>();
    for (int size : sizes) {
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      peer.send(new Bytes(bytes));
      sums.add(checksum(bytes));
      if (size <= 2 * slice || size % 7 == 0) {
        byte[] back = peer.request(new Bytes(bytes), Bytes.class, LONG).bytes();
        assertThat(checksum(back)).as("%d bytes", size).isEqualTo(checksum(bytes));
      }
    }
    await(() -> got.size() == sizes.size());
    assertThat(new ArrayList<>(got)).isEqualTo(sums);
  }

  private static long checksum(byte[] bytes) {
    CRC32 checksum = new CRC32();
    checksum.update(bytes);
    return checksum.getValue() << 32 | bytes.length;
  }

  @ParameterizedTest
  @EnumSource
  void theLargestArrivesAndOneMoreByteIsRefused(Variant variant) throws Exception {
    Queue<Long> got = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(Bytes.class),
        o -> o.receive(Bytes.class, Dispatch.INLINE, (m, from) -> got.add(checksum(m.bytes()))));
    byte[] bytes = new byte[(64 << 20) - 4]; // the length takes four
    new Random(2).nextBytes(bytes);
    long position = peer.send(new Bytes(bytes));
    assertThat(peer.awaitDelivered(position, LONG)).isTrue();
    assertThat(got).containsExactly(checksum(bytes));
    assertCode(
        Code.TOO_LARGE,
        "the largest that node 2 takes",
        () -> peer.send(new Bytes(new byte[(64 << 20) - 3])));
  }

  @ParameterizedTest
  @EnumSource
  void ringsGrowUnderLoadAndTheOrderStays(Variant variant) throws Exception {
    int threads = 3;
    int each = 40_000;
    int[] next = new int[threads];
    AtomicInteger total = new AtomicInteger();
    AtomicReference<String> wrong = new AtomicReference<>();
    start(
        variant,
        o -> o.type(Tagged.class),
        o ->
            o.receive(
                    Tagged.class,
                    Dispatch.INLINE,
                    (m, from) -> {
                      if (next[m.thread()]++ != m.sequence()) {
                        wrong.set(m.thread() + ": " + m.sequence());
                      }
                      total.incrementAndGet();
                    })
                .handle(Tagged.class, Dispatch.INLINE, (m, request) -> request.respond(m)));
    assertThat(peer.request(new Tagged(0, 0, new byte[1]), Tagged.class, LONG).rest()).hasSize(1);
    if (variant == Variant.LOOP || variant == Variant.SHM) {
      assertThat(peer.freeBytes()).as("at first").isLessThanOrEqualTo(32 << 10);
    }
    List<Thread> running = new ArrayList<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      running.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      long position = 0;
                      for (int i = 0; i < each; i++) {
                        position =
                            peer.send(new Tagged(thread, i, new byte[i % 997 == 0 ? 9000 : 8]));
                      }
                      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
                    } catch (Exception | Error e) {
                      failure.set(e);
                    }
                  }));
    }
    for (Thread thread : running) {
      thread.join();
    }
    assertThat(failure.get()).isNull();
    await(() -> total.get() == threads * each);
    assertThat(wrong.get()).isNull();
    // Who sends in one record only has the larger ring, too, sooner or later.
    Tagged large = new Tagged(0, each, new byte[30_000]);
    await(() -> peer.trySend(large) > 0);
    await(() -> peer.freeBytes() > 200 << 10);
  }

  /** A text of so many characters; its codec waits in the middle. */
  private static final class Halting implements Codec<StringBuilder> {
    final CountDownLatch half = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    volatile boolean fails;

    @Override
    public int size(StringBuilder text) {
      return text.length();
    }

    @Override
    public void write(StringBuilder text, MessageWriter out) {
      for (int i = 0; i < text.length(); i++) {
        if (i == text.length() / 2) {
          half.countDown();
          awaitLatch(goOn);
          if (fails) {
            throw new ArithmeticException("on purpose");
          }
        }
        out.putByte((byte) text.charAt(i));
      }
    }

    @Override
    public StringBuilder read(MessageReader in) {
      StringBuilder text = new StringBuilder();
      while (in.remaining() != 0) {
        text.append((char) in.getByte());
      }
      return text;
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void othersGoBetweenTheSlicesOfALargeMessage(Variant variant) throws Exception {
    Halting codec = new Halting();
    Queue<Integer> got = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(StringBuilder.class, codec).type(Pair.class).type(Bytes.class),
        o ->
            o.receive(StringBuilder.class, Dispatch.INLINE, (m, from) -> got.add(m.length()))
                .receive(Pair.class, Dispatch.INLINE, (m, from) -> got.add((int) m.first()))
                .receive(Bytes.class, Dispatch.INLINE, (m, from) -> got.add(m.bytes().length)));
    assertThat(peer.send(new Pair(-1, 0))).isPositive(); // connects
    int length = 3 << 20;
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread sender =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    peer.send(text("x".repeat(length)));
                  } catch (Exception | Error e) {
                    failure.set(e);
                  }
                });
    awaitLatch(codec.half);
    peer.send(new Bytes(new byte[200_000]));
    long position = peer.send(new Pair(-2, 0));
    assertThat(peer.awaitDelivered(position, LONG)).isTrue();
    codec.goOn.countDown();
    sender.join();
    assertThat(failure.get()).isNull();
    await(() -> got.size() == 4);
    assertThat(got).containsExactly(-1, 200_000, -2, length);
  }

  @ParameterizedTest
  @EnumSource
  void aCodecThatThrowsBetweenSlicesLeavesNothingBehind(Variant variant) throws Exception {
    Halting codec = new Halting();
    codec.fails = true;
    codec.goOn.countDown();
    Queue<Integer> got = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(StringBuilder.class, codec).receiveBudget(1 << 20),
        o -> o.receive(StringBuilder.class, Dispatch.ORDERED, (m, from) -> got.add(m.length())));
    for (int i = 0; i < 100; i++) { // more than may be under way at a time
      int length = i % 2 == 0 ? 300_000 : 3 << 20;
      assertThatThrownBy(() -> peer.send(text("x".repeat(length))))
          .isInstanceOf(ArithmeticException.class);
    }
    codec.fails = false;
    peer.send(text("x".repeat(2 << 20)));
    await(() -> got.size() == 1);
    assertThat(got).containsExactly(2 << 20);
    assertThat(far.counters().dropped()).isZero();
  }

  /** Memory for large messages: waited for, told at the limit; none is dropped. */
  @ParameterizedTest
  @EnumSource
  void largeMessagesWaitForMemory(Variant variant) throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    Queue<Integer> got = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(Bytes.class).receiveBudget(1 << 20),
        o ->
            o.receive(
                    Bytes.class,
                    Dispatch.ORDERED,
                    (m, from) -> {
                      open.await();
                      got.add(m.bytes().length);
                    })
                .handle(Bytes.class, Dispatch.ORDERED, (m, request) -> request.respond(m)));
    peer.send(new Bytes(new byte[2 << 20])); // the handler has it
    peer.send(new Bytes(new byte[3 << 20])); // waits for the handler, and has all the memory
    assertCode(
        Code.BACK_PRESSURED,
        "no memory for",
        () -> peer.request(new Bytes(new byte[2 << 20]), Bytes.class, Duration.ofMillis(300)));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread sender =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    for (int i = 0; i < 20; i++) {
                      peer.send(new Bytes(new byte[300_000 + i]));
                    }
                    peer.send(new Bytes(new byte[4 << 20]));
                  } catch (Exception | Error e) {
                    failure.set(e);
                  }
                });
    open.countDown();
    sender.join();
    assertThat(failure.get()).isNull();
    await(() -> got.size() == 23);
    List<Integer> all = new ArrayList<>(got);
    assertThat(all.subList(0, 2)).containsExactly(2 << 20, 3 << 20);
    for (int i = 0; i < 20; i++) {
      assertThat(all.get(2 + i)).isEqualTo(300_000 + i);
    }
    assertThat(all.get(22)).isEqualTo(4 << 20);
    assertThat(far.counters().dropped()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void requestsAreAnswered(Variant variant) throws Exception {
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class).type(Text.class).type(Bytes.class),
        o ->
            o.handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) -> request.respond(new Response(pair.first() + pair.second())))
                .handle(
                    Text.class,
                    Dispatch.ORDERED,
                    (text, request) -> request.respond(new Text(text.text() + "!")))
                .handle(Bytes.class, Dispatch.VIRTUAL, (bytes, request) -> request.respond(bytes)));
    for (int i = 0; i < 2000; i++) {
      assertThat(peer.request(new Pair(i, 1), Response.class, LONG).value()).isEqualTo(i + 1);
    }
    for (int i = 0; i < 200; i++) {
      assertThat(peer.request(new Text("é" + i), Text.class, LONG).text()).isEqualTo("é" + i + "!");
    }
    for (int size : new int[] {0, 1000, 31 << 10, 33 << 10, 1 << 20, 5 << 20}) {
      byte[] bytes = new byte[size];
      new Random(size).nextBytes(bytes);
      assertThat(peer.request(new Bytes(bytes), Bytes.class, LONG).bytes()).isEqualTo(bytes);
    }
    assertThat(near.counters().openRequests()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void manyThreadsRequestAtOnce(Variant variant) throws Exception {
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class),
        o ->
            o.handle(
                Pair.class,
                Dispatch.ORDERED,
                (pair, request) -> request.respond(new Response(pair.first()))));
    AtomicLong good = new AtomicLong();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 16; t++) {
      int thread = t;
      Thread.Builder kind = t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
      threads.add(
          kind.start(
              () -> {
                try {
                  for (int i = 0; i < 300; i++) {
                    long number = thread * 1000L + i;
                    if (peer.request(new Pair(number, 0), Response.class, LONG).value() == number) {
                      good.incrementAndGet();
                    }
                  }
                } catch (Exception | Error e) {
                  failure.set(e);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failure.get()).isNull();
    assertThat(good.get()).isEqualTo(16 * 300);
  }

  @ParameterizedTest
  @EnumSource
  void answersMayComeLaterAndBeCollectedLater(Variant variant) throws Exception {
    Queue<Request> kept = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class),
        o -> o.handle(Pair.class, Dispatch.INLINE, (pair, request) -> kept.add(request)));
    ResponseFuture<Response> first = peer.requestAsync(new Pair(1, 0), Response.class, LONG);
    ResponseFuture<Response> second = peer.requestAsync(new Pair(2, 0), Response.class, LONG);
    ResponseFuture<Response> third = peer.requestAsync(new Pair(3, 0), Response.class, LONG);
    await(() -> kept.size() == 3);
    assertThat(first.isDone()).isFalse();
    assertThat(first.await(Duration.ofMillis(1))).isNull();
    AtomicLong told = new AtomicLong();
    third.whenDone(ForkJoinPool.commonPool(), (response, failure) -> told.set(response.value()));
    Request firstRequest = kept.remove();
    Request secondRequest = kept.remove();
    Request thirdRequest = kept.remove();
    secondRequest.respond(new Response(20));
    thirdRequest.respond(new Response(30));
    assertThat(second.await(LONG).value()).isEqualTo(20);
    assertThatThrownBy(() -> secondRequest.respond(new Response(21)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("answered once");
    await(() -> told.get() == 30);
    assertThat(first.cancel()).isTrue();
    assertThat(first.cancel()).isFalse();
    await(firstRequest::cancelled);
    firstRequest.respond(new Response(10)); // late
    await(() -> near.counters().lateResponses() == 1);
    assertThatThrownBy(() -> first.await(Duration.ofNanos(1)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(near.counters().openRequests()).isZero();
  }

  /** The limit has 31 bits, of microseconds. */
  @ParameterizedTest
  @EnumSource(names = {"LOOP", "SHM", "TCP"})
  void aRequestWithALongTimeoutIsNotGivenUpThere(Variant variant) throws Exception {
    Queue<Request> kept = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o -> o.type(Bytes.class).type(Response.class),
        o -> o.handle(Bytes.class, Dispatch.ORDERED, (bytes, request) -> kept.add(request)));
    for (int size : new int[] {1, 300_000}) { // the second one in slices
      for (int minutes : new int[] {35, 36}) {
        ResponseFuture<Response> future =
            peer.requestAsync(
                new Bytes(new byte[size]), Response.class, Duration.ofMinutes(minutes));
        await(() -> !kept.isEmpty());
        Request request = kept.remove();
        assertThat(request.remainingNs() == Long.MAX_VALUE).isEqualTo(minutes == 36);
        assertThat(request.cancelled()).isFalse();
        request.respond(new Response(minutes));
        assertThat(future.await(LONG).value()).isEqualTo(minutes);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRequestThatIsNotAnsweredEndsAtItsLimit(Variant variant) throws Exception {
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class),
        o ->
            o.handle(Pair.class, Dispatch.INLINE, (pair, request) -> {})
                .receive(Pair.class, (pair, from) -> {}));
    assertThat(peer.send(new Pair(0, 0))).isPositive(); // connects
    assertCode(
        Code.TIMED_OUT,
        "has not answered",
        () -> peer.request(new Pair(1, 2), Response.class, Duration.ofMillis(50)));
    AtomicReference<MessagingException> told = new AtomicReference<>();
    peer.requestAsync(new Pair(1, 2), Response.class, Duration.ofMillis(50))
        .whenDone(Runnable::run, (response, failure) -> told.set(failure));
    await(() -> told.get() != null);
    assertThat(told.get().code()).isEqualTo(Code.TIMED_OUT);
  }

  private static void assertCode(
      Code code, String text, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code))
        .hasMessageContaining(text);
  }

  @ParameterizedTest
  @EnumSource
  void failuresThereAreToldHere(Variant variant) throws Exception {
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class).type(Text.class).type(Unknown.class),
        o ->
            o.handle(
                    Pair.class,
                    Dispatch.ORDERED,
                    (pair, request) -> {
                      throw new java.io.FileNotFoundException("no such pair");
                    })
                .handle(Text.class, Dispatch.INLINE, (text, request) -> request.fail("not today")));
    assertCode(
        Code.REMOTE_ERROR,
        "FileNotFoundException: no such pair",
        () -> peer.request(new Pair(1, 2), Response.class, LONG));
    assertCode(
        Code.REMOTE_ERROR, "not today", () -> peer.request(new Text(""), Response.class, LONG));
    assertCode(
        Code.NO_RECEIVER,
        "no request handler",
        () -> peer.request(new Unknown(1), Response.class, LONG));
    AtomicReference<String> dropped = new AtomicReference<>();
    far.listen(
        new NodeListener() {
          @Override
          public void dropped(Peer from, String type, String reason) {
            dropped.set(type + " " + reason);
          }
        });
    peer.send(new Unknown(1));
    await(() -> dropped.get() != null);
    assertThat(dropped.get()).contains("Unknown").contains("no receiver");
    assertThat(far.counters().failed()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void badInputIsRefusedBeforeAnythingIsSent(Variant variant) throws Exception {
    start(
        variant,
        o ->
            o.type(Pair.class)
                .type(Response.class)
                .type(Text.class)
                .type(Bytes.class)
                .maxMessageBytes(1 << 20),
        o ->
            o.handle(
                Pair.class, Dispatch.INLINE, (pair, request) -> request.respond(new Response(1))));
    assertThatThrownBy(() -> peer.send(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> peer.send("text"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.String is not registered");
    assertThatThrownBy(() -> peer.send(new Text(null)))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("component text of");
    assertCode(
        Code.TOO_LARGE,
        "the largest that node 2 takes",
        () -> peer.send(new Bytes(new byte[1 << 20])));
    assertThatThrownBy(() -> peer.request(new Pair(1, 2), String.class, Duration.ofNanos(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(peer.request(new Pair(1, 2), Response.class, LONG).value()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void waitingInsideAnInlineReceiverIsRefused(Variant variant) throws Exception {
    AtomicReference<Throwable> refused = new AtomicReference<>();
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class),
        o ->
            o.receive(
                Pair.class,
                Dispatch.INLINE,
                (pair, from) -> {
                  try {
                    from.send(pair);
                  } catch (IllegalStateException e) {
                    refused.set(e);
                  }
                }));
    peer.send(new Pair(1, 2));
    await(() -> refused.get() != null);
    assertThat(refused.get()).hasMessageContaining("use trySend");
  }

  @ParameterizedTest
  @EnumSource
  void aFullRingIsToldAndRoomIsWaitedFor(Variant variant) throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    AtomicInteger got = new AtomicInteger();
    start(
        variant,
        o -> o.type(Bytes.class).dataRingBytes(16 << 10).receiveBudget(1 << 20),
        o ->
            o.receive(
                Bytes.class,
                Dispatch.INLINE, // while it runs, nothing leaves the ring
                (m, from) -> {
                  open.await();
                  got.incrementAndGet();
                }));
    Bytes message = new Bytes(new byte[1000]);
    peer.send(message);
    int sent = 1;
    long deadline = System.nanoTime() + LONG.toNanos();
    // Full for good: the ring, and what the other end keeps of it. Pollers may be late.
    for (int full = 0; full < 50 || sent <= 10; ) {
      assertThat(System.nanoTime()).as("%d sent", sent).isLessThan(deadline);
      if (peer.trySend(message) > 0) {
        sent++;
        full = 0;
      } else {
        full++;
        Thread.sleep(1);
      }
    }
    assertThat(peer.freeBytes()).isLessThan(16 << 10);
    // Nothing is taken: a send comes to its limit only when the receiver goes on.
    Thread opener = new Thread(open::countDown);
    opener.start();
    for (int i = 0; i < 100; i++) {
      peer.send(message);
      sent++;
    }
    int all = sent;
    await(() -> got.get() == all);
    opener.join();
  }

  @ParameterizedTest
  @EnumSource
  void answersOvertakeMessagesThatNobodyTakes(Variant variant) throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    start(
        variant,
        o ->
            o.type(Bytes.class)
                .type(Pair.class)
                .type(Response.class)
                .dataRingBytes(16 << 10)
                .receiveBudget(1 << 20)
                .receive(Bytes.class, Dispatch.ORDERED, (m, from) -> open.await()),
        o ->
            o.handle(
                Pair.class, Dispatch.INLINE, (pair, request) -> request.respond(new Response(1))));
    if (variant == Variant.LOOP) {
      open.countDown();
      return; // its own data ring is full then, and no request gets in
    }
    assertThat(peer.request(new Pair(1, 2), Response.class, LONG).value()).isEqualTo(1);
    // The far node floods the near one, which takes nothing.
    Peer back = far.peer(1);
    Bytes message = new Bytes(new byte[1000]);
    int full = 0;
    while (full < 100) {
      full = back.trySend(message) == Peer.BACK_PRESSURED ? full + 1 : full;
      Thread.onSpinWait();
    }
    for (int i = 0; i < 100; i++) {
      assertThat(peer.request(new Pair(1, 2), Response.class, LONG).value()).isEqualTo(1);
    }
    open.countDown();
  }

  @ParameterizedTest
  @EnumSource
  void handlersThatRequestOfEachOtherDoNotWaitForEver(Variant variant) throws Exception {
    start(
        variant,
        o ->
            o.type(Pair.class)
                .type(Response.class)
                .handlers(1)
                .handle(
                    Pair.class,
                    Dispatch.CONCURRENT,
                    (pair, request) -> {
                      if (pair.first() == 0) {
                        request.respond(new Response(pair.second()));
                      } else {
                        Pair next = new Pair(pair.first() - 1, pair.second() + 1);
                        request.respond(request.from().request(next, Response.class, LONG));
                      }
                    }),
        o -> {});
    assertThat(peer.request(new Pair(12, 0), Response.class, LONG).value()).isEqualTo(12);
  }

  @ParameterizedTest
  @EnumSource
  void aCodecThatThrowsOrLiesHarmsNobodyElse(Variant variant) throws Exception {
    Queue<Long> got = new ConcurrentLinkedQueue<>();
    AtomicReference<Peer> self = new AtomicReference<>();
    Codec<StringBuilder> odd =
        new Codec<>() {
          @Override
          public int size(StringBuilder message) {
            return 16;
          }

          @Override
          public void write(StringBuilder message, MessageWriter out) {
            out.putLong(1);
            switch (message.toString()) {
              case "throws" -> throw new ArithmeticException("on purpose");
              case "less" -> {}
              case "more" -> {
                out.putLong(2);
                out.putByte((byte) 3);
              }
              case "deep" -> endless(0);
              case "sends" -> self.get().trySend(new Pair(7, 7));
              default -> out.putLong(2);
            }
          }

          private int endless(int depth) {
            return depth < 0 ? 0 : endless(depth + 1) + 1;
          }

          @Override
          public StringBuilder read(MessageReader in) {
            in.getLong();
            in.getLong();
            return text("");
          }
        };
    start(
        variant,
        o -> o.type(Pair.class).type(StringBuilder.class, odd),
        o ->
            o.receive(Pair.class, Dispatch.INLINE, (pair, from) -> got.add(pair.first()))
                .receive(StringBuilder.class, Dispatch.INLINE, (text, from) -> got.add(-1L)));
    self.set(peer);
    peer.send(new Pair(1, 0));
    assertThatThrownBy(() -> peer.send(text("throws"))).isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> peer.send(text("less")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("wrote 8 bytes, its size said 16");
    assertThatThrownBy(() -> peer.send(text("more")))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("more than its size said");
    assertThatThrownBy(() -> peer.send(text("deep"))).isInstanceOf(StackOverflowError.class);
    assertThatThrownBy(() -> peer.send(text("sends")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("a codec must not");
    peer.send(text("good"));
    peer.send(new Pair(2, 0));
    await(() -> got.size() == 3);
    assertThat(got).containsExactly(1L, -1L, 2L);
  }

  @ParameterizedTest
  @EnumSource
  void recordsOfManyKindsArrive(Variant variant) throws Exception {
    start(
        variant,
        o -> o.type(Rich.class),
        o -> o.handle(Rich.class, Dispatch.ORDERED, (rich, request) -> request.respond(rich)));
    Rich rich = new Rich("näme", List.of("a", "b"), Optional.of(new Pair(1, 2)), -3);
    assertThat(peer.request(rich, Rich.class, LONG)).isEqualTo(rich);
  }

  @ParameterizedTest
  @EnumSource
  void oneMessageGoesToSeveralNodes(Variant variant) throws Exception {
    Queue<Integer> got = new ConcurrentLinkedQueue<>();
    start(
        variant,
        o ->
            o.type(Text.class)
                .sendTimeout(TestVerbs.shortLimit())
                .receive(Text.class, (text, from) -> got.add(text.text().length())),
        o -> {});
    int first = 0;
    for (int id : new TreeSet<>(List.of(near.id(), 2))) { // on LOOP they are one
      Peer each = near.peer(id);
      await(() -> each.trySend(new Text("first")) > 0); // connects, however long that takes
      first++;
    }
    long[] outcome = new long[3];
    int good = near.send(NodeSet.of(near.id(), 2, 77), new Text("to all"), outcome);
    assertThat(good).isEqualTo(2);
    assertThat(outcome[0]).isPositive();
    assertThat(outcome[1]).isPositive();
    assertThat(outcome[2]).isEqualTo(Peer.CONNECTING);
    int all = first + 2;
    await(() -> got.size() == all);
    assertThat(got).contains(5, 6, 6);
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptedThreadDoesNotWaitForSeveralNodes(Variant variant) throws Exception {
    start(variant, o -> o.type(Text.class).sendTimeout(Duration.ofMinutes(5)), o -> {});
    long[] outcome = new long[1];
    Thread.currentThread().interrupt();
    try {
      assertThat(near.send(NodeSet.of(77), new Text("to nobody"), outcome)).isZero();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(outcome[0]).isEqualTo(Peer.CONNECTING);
  }

  @ParameterizedTest
  @EnumSource
  void sendingAndReceivingIntoAnOldObjectAllocatesNothing(Variant variant) throws Exception {
    AtomicLong sum = new AtomicLong();
    AtomicLong pollersBytes = new AtomicLong();
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    start(
        variant,
        o -> o.type(Price.class, new Price.PriceCodec()),
        o ->
            o.reuse(Price.class, Price::new)
                .receive(
                    Price.class,
                    Dispatch.INLINE,
                    (price, from) -> {
                      sum.addAndGet(price.item);
                      if (price.item == 0) {
                        pollersBytes.set(threads.getCurrentThreadAllocatedBytes());
                      }
                    }));
    Price price = new Price();
    long position = peer.send(price);
    assertThat(peer.awaitDelivered(position, LONG)).isTrue();
    int count = 50_000;
    long least = Long.MAX_VALUE;
    long minThere = Long.MAX_VALUE;
    for (int round = 0; round < 6; round++) {
      price.item = 0;
      position = sendAll(price, 1);
      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
      long there = pollersBytes.get();
      long before = threads.getCurrentThreadAllocatedBytes();
      price.item = 1;
      position = sendAll(price, count);
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
      price.item = 0;
      position = sendAll(price, 1);
      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
      minThere = Math.min(minThere, pollersBytes.get() - there);
    }
    assertThat(sum.get()).isEqualTo(6L * count);
    // A wait or a system call now and then, but nothing a message.
    assertThat(least).as("bytes of %d sends", count).isLessThan(count);
    assertThat(minThere).as("bytes of %d receptions", count).isLessThan(count);
  }

  private long sendAll(Price price, int count) {
    long position = 0;
    for (int i = 0; i < count; ) {
      long result = peer.trySend(price);
      if (result > 0) {
        position = result;
        i++;
      } else {
        if (result != Peer.BACK_PRESSURED) {
          throw new AssertionError("result " + result);
        }
        Thread.onSpinWait();
      }
    }
    return position;
  }

  @ParameterizedTest
  @EnumSource
  void aClosedNodeTellsBothSides(Variant variant) throws Exception {
    Queue<Request> kept = new ConcurrentLinkedQueue<>(); // else the collector could end the request
    start(
        variant,
        o -> o.type(Pair.class).type(Response.class).sendTimeout(TestVerbs.shortLimit()),
        o -> o.handle(Pair.class, Dispatch.INLINE, (pair, request) -> kept.add(request)));
    await(() -> peer.trySend(new Pair(0, 0)) > 0); // connects, however long that takes
    ResponseFuture<Response> future = peer.requestAsync(new Pair(1, 2), Response.class, LONG);
    await(() -> !kept.isEmpty());
    far.close();
    MessagingException ended =
        org.assertj.core.api.Assertions.catchThrowableOfType(
            MessagingException.class, () -> future.await(LONG));
    assertThat(ended.code()).isIn(Code.LOST, Code.CLOSED);
    assertThatThrownBy(() -> peer.send(new Pair(1, 2)))
        .isInstanceOfSatisfying(
            MessagingException.class,
            e -> assertThat(e.code()).isIn(Code.UNREACHABLE, Code.CLOSED, Code.REFUSED));
    near.close();
    assertThat(peer.trySend(new Pair(1, 2))).isEqualTo(Peer.CLOSED);
  }

  @ParameterizedTest
  @EnumSource
  void whatWasSentBeforeTheCloseArrives(Variant variant) throws Exception {
    AtomicInteger got = new AtomicInteger();
    start(
        variant,
        o -> o.type(Pair.class),
        o -> o.receive(Pair.class, (pair, from) -> got.incrementAndGet()));
    for (int i = 0; i < 10_000; i++) {
      peer.send(new Pair(i, i));
    }
    assertThat(near.close(LONG)).isZero();
    await(() -> got.get() == 10_000);
  }
}
