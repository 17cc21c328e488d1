// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Text;
import io.talaria.messaging.MessagingException.Code;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is told of requests, claims and waits that take too long or come to nothing. */
@Timeout(180)
class ToldTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path directory;
  private Variant.Nodes nodes;

  /** Its codec waits until it is let go. */
  static final class Slow {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
  }

  static final class SlowCodec implements Codec<Slow> {
    @Override
    public int size(Slow slow) {
      return 8;
    }

    @Override
    public void write(Slow slow, MessageWriter out) {
      slow.begun.countDown();
      try {
        if (!slow.goOn.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
          throw new IllegalStateException("nobody has let it go on");
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      out.putLong(1);
    }

    @Override
    public Slow read(MessageReader in) {
      in.getLong();
      return new Slow();
    }
  }

  @BeforeEach
  void make() {
    nodes = new Variant.Nodes(Variant.SHM, directory);
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private NodeOptions options(int id) {
    return nodes
        .options(id)
        .sendTimeout(Duration.ofMinutes(1))
        .type(Pair.class)
        .type(Response.class);
  }

  @Test
  void aRequestThatIsThrownAwayIsToldToWhoeverAsked() throws Exception {
    List<Request> kept = new ArrayList<>();
    Node there =
        nodes.start(
            options(2)
                .handle(
                    Text.class,
                    Dispatch.INLINE,
                    (text, request) -> {
                      if (text.text().equals("keep")) {
                        kept.add(request);
                      }
                    }));
    Node here = nodes.start(options(1).type(Text.class));
    ResponseFuture<Response> later =
        here.peer(2).requestAsync(new Text("keep"), Response.class, LIMIT);
    ResponseFuture<Response> never =
        here.peer(2).requestAsync(new Text("drop"), Response.class, LIMIT);
    while (!never.isDone()) {
      System.gc();
      Thread.sleep(10);
    }
    MessagingException told =
        catchThrowableOfType(MessagingException.class, () -> never.await(LIMIT));
    assertThat(told.code()).isEqualTo(Code.REMOTE_ERROR);
    assertThat(told).hasMessageContaining("the request was thrown away without a response");
    assertThat(there.counters().unanswered()).isEqualTo(1);
    assertThat(later.isDone()).isFalse();
    kept.getFirst().respond(new Response(5));
    assertThat(later.await(LIMIT).value()).isEqualTo(5);
    kept.clear();
    System.gc();
    assertThat(there.counters().unanswered()).isEqualTo(1);
  }

  @Test
  void aRequestWhoseTimeoutPassedBeforeItsHandlerWasFreeIsNotCounted() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    Node there =
        nodes.start(
            options(2)
                .handle(
                    Pair.class,
                    Dispatch.ORDERED,
                    (pair, request) -> {
                      Waits.await(free);
                      request.respond(new Response(pair.first()));
                    })
                .handle(
                    Text.class,
                    Dispatch.INLINE,
                    (text, request) -> request.respond(new Response(2))));
    Peer peer = nodes.start(options(1).type(Text.class)).peer(2);
    ResponseFuture<Response> first = peer.requestAsync(new Pair(1, 0), Response.class, LIMIT);
    Duration timeout = Duration.ofMillis(500);
    ResponseFuture<Response> late = peer.requestAsync(new Pair(0, 0), Response.class, timeout);
    // Behind the late one: the other node has read that, and knows its timeout.
    assertThat(peer.request(new Text(""), Response.class, LIMIT).value()).isEqualTo(2);
    long passed = System.nanoTime() + timeout.toNanos();
    Waits.await(() -> System.nanoTime() - passed > 0);
    assertThat(catchThrowableOfType(MessagingException.class, () -> late.await(LIMIT)).code())
        .isEqualTo(Code.TIMED_OUT);
    free.countDown();
    assertThat(first.await(LIMIT).value()).isEqualTo(1);
    assertThat(peer.request(new Pair(3, 0), Response.class, LIMIT).value()).isEqualTo(3);
    assertThat(there.counters().received()).isEqualTo(3);
  }

  @Test
  void aClaimThatIsOpenForLongIsToldByName() throws Exception {
    Node there = nodes.start(options(2).receive(Pair.class, (pair, from) -> {}));
    Node here = nodes.start(options(1).type(Slow.class, new SlowCodec()));
    Peer peer = here.peer(2);
    assertThat(peer.awaitDelivered(peer.send(new Pair(1, 2)), LIMIT)).isTrue();
    CompletableFuture<String> told = new CompletableFuture<>();
    here.listen(
        new NodeListener() {
          @Override
          public void stalled(Peer to, String type, String thread, long openNs) {
            told.complete(to.id() + " " + type + " " + thread + " " + (openNs >= 1_000_000));
          }
        });
    Slow slow = new Slow();
    AtomicReference<Throwable> failed = new AtomicReference<>();
    Thread sender =
        Thread.ofPlatform()
            .name("the slow one")
            .start(
                () -> {
                  try {
                    peer.send(slow);
                  } catch (MessagingException | RuntimeException e) {
                    failed.set(e);
                  }
                });
    slow.begun.await();
    long behind = peer.send(new Pair(3, 4)); // others go on
    assertThat(told.get(120, TimeUnit.SECONDS))
        .isEqualTo("2 " + Slow.class.getName() + " the slow one true");
    assertThat(here.counters().stalled()).isEqualTo(1);
    slow.goOn.countDown();
    sender.join();
    assertThat(failed.get()).isNull();
    assertThat(peer.awaitDelivered(behind, LIMIT)).isTrue();
    assertThat(there.counters().dropped()).isEqualTo(1); // nobody there knows the slow type
  }

  @Test
  void theFlightRecorderHearsOfWhatTakesLong() throws Exception {
    Thread requesting = Thread.currentThread();
    Node there =
        nodes.start(
            options(2)
                .handle(
                    Pair.class,
                    Dispatch.ORDERED,
                    (pair, request) -> {
                      try {
                        if (pair.first() > 0) { // what takes long is the wait, which has begun then
                          Waits.await(() -> requesting.getState() == Thread.State.TIMED_WAITING);
                        }
                        Thread.sleep(pair.first());
                      } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                      }
                      request.respond(new Response(pair.second()));
                    }));
    Node here = nodes.start(options(1));
    assertThat(there.id()).isEqualTo(2);
    Path file = directory.resolve("recording.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("io.talaria.MessageWait");
      recording.enable("io.talaria.MessageHandler");
      recording.start();
      assertThat(here.peer(2).request(new Pair(50, 3), Response.class, LIMIT).value()).isEqualTo(3);
      // The event comes after the response, and before the handler begins with the next request.
      assertThat(here.peer(2).request(new Pair(0, 4), Response.class, LIMIT).value()).isEqualTo(4);
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events)
        .anySatisfy(
            event -> {
              assertThat(event.getEventType().getName()).isEqualTo("io.talaria.MessageWait");
              assertThat(event.getString("what")).isEqualTo("response");
              assertThat(event.getInt("peer")).isEqualTo(2);
              assertThat(event.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(10));
            })
        .anySatisfy(
            event -> {
              assertThat(event.getEventType().getName()).isEqualTo("io.talaria.MessageHandler");
              assertThat(event.getString("type")).isEqualTo(Pair.class.getName());
              assertThat(event.getInt("peer")).isEqualTo(1);
            });
  }

  @Test
  void aNodeHasACountersFileAsLongAsItLives() throws Exception {
    Node there = nodes.start(options(2).receive(Pair.class, (pair, from) -> {}));
    Node here = nodes.start(options(1));
    Peer peer = here.peer(2);
    assertThat(peer.awaitDelivered(peer.send(new Pair(1, 2)), LIMIT)).isTrue();
    String line = "";
    // It is replaced at most twice a second: one of the time before the message may come first.
    while (!line.contains("\"outBytes\":24,")) {
      Thread.sleep(10);
      line = shown(1);
    }
    assertThat(line)
        .startsWith("{\"talariaMessages\":2,\"pid\":" + ProcessHandle.current().pid() + ",")
        .contains("\"cluster\":\"test\",\"node\":1,", "\"state\":\"connected\"")
        .contains("\"peer\":2,\"transport\":\"shm\"")
        .endsWith("}]}\n");
    there.close();
    here.close();
    assertThat(shown(1)).isEmpty();
  }

  private String shown(int node) throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve("run"))) {
      for (Path each : files.toList()) {
        String line = each.toString().endsWith(".messages") ? Files.readString(each) : "";
        if (line.contains("\"node\":" + node + ",")) {
          return line;
        }
      }
    }
    return "";
  }
}
