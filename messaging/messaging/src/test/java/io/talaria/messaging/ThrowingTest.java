// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.MessagingException.Code;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever the program's code throws, and wherever, a node goes on, and tells it. */
@Timeout(180)
class ThrowingTest {
  private static final Duration LIMIT = Duration.ofSeconds(40);

  @TempDir Path directory;
  private Variant.Nodes nodes;

  /** All kinds of what can be thrown. */
  enum Kind {
    RUNTIME {
      @Override
      Throwable made() {
        return new IllegalArgumentException("thrown by a test");
      }
    },
    SNEAKY {
      @Override
      Throwable made() {
        return new IOException("thrown by a test");
      }
    },
    ASSERTION {
      @Override
      Throwable made() {
        return new AssertionError("thrown by a test");
      }
    },
    MEMORY {
      @Override
      Throwable made() {
        return new OutOfMemoryError("thrown by a test");
      }
    },
    STACK {
      @Override
      Throwable made() {
        return new StackOverflowError("thrown by a test");
      }
    },
    TEXTLESS {
      @Override
      Throwable made() {
        return new Textless();
      }
    };

    abstract Throwable made();

    void run() {
      Kind.<RuntimeException>sneak(made());
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
      throw (T) thrown;
    }
  }

  /** Its text throws, too. */
  private static final class Textless extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no text");
    }
  }

  /** Its codec throws if it says so. */
  record Bomb(int number, int at) {
    static final int NOT = 0;
    static final int SIZE = 1;
    static final int WRITE = 2;
    static final int READ = 3;
  }

  private static final class BombCodec implements Codec<Bomb> {
    private final Kind kind;

    BombCodec(Kind kind) {
      this.kind = kind;
    }

    private void at(Bomb bomb, int place) {
      if (bomb.at() == place) {
        kind.run();
      }
    }

    @Override
    public int size(Bomb bomb) {
      at(bomb, Bomb.SIZE);
      return 8;
    }

    @Override
    public void write(Bomb bomb, MessageWriter out) {
      at(bomb, Bomb.WRITE);
      out.putInt(bomb.number());
      out.putInt(bomb.at());
    }

    @Override
    public Bomb read(MessageReader in) {
      Bomb bomb = new Bomb(in.getInt(), in.getInt());
      at(bomb, Bomb.READ);
      return bomb;
    }
  }

  /** Is told everything, and throws at each. */
  private static final class Telling implements NodeListener {
    final Queue<String> told = new ConcurrentLinkedQueue<>();
    final AtomicReference<Kind> kind;

    Telling(Kind kind) {
      this.kind = new AtomicReference<>(kind);
    }

    private void tell(String what) {
      told.add(what);
      Kind now = kind.get();
      if (now != null) {
        now.run();
      }
    }

    @Override
    public void connected(Peer peer, String transport, String reason) {
      tell("connected");
    }

    @Override
    public void lost(Peer peer, String reason, long unacknowledgedBytes) {
      tell("lost " + reason);
    }

    @Override
    public void unreachable(Peer peer, String reason) {
      tell("unreachable " + reason);
    }

    @Override
    public void dropped(Peer from, String type, String reason) {
      tell("dropped");
    }

    @Override
    public void failed(Peer from, String type, Throwable thrown) {
      tell("failed");
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

  private NodeOptions options(int id, Kind kind) {
    return nodes
        .options(id)
        .handlers(1)
        .maxHandlers(1)
        .sendTimeout(Duration.ofSeconds(60))
        .type(Response.class)
        .type(Bomb.class, new BombCodec(kind));
  }

  private static void await(BooleanSupplier condition) throws Exception {
    Waits.await(LIMIT, condition);
  }

  private static Code codeOf(Peer peer, Object request, Class<?> response) {
    return catchThrowableOfType(
            MessagingException.class, () -> peer.request(request, response, LIMIT))
        .code();
  }

  @ParameterizedTest
  @EnumSource
  void fromReceiversCodecsAndListeners(Kind kind) throws Exception {
    for (Dispatch dispatch : Dispatch.values()) {
      AtomicInteger got = new AtomicInteger();
      Telling telling = new Telling(kind);
      Node there =
          nodes.start(
              options(2, kind)
                  .receive(
                      Bomb.class,
                      dispatch,
                      (bomb, from) -> {
                        got.incrementAndGet();
                        if (bomb.number() == 1) {
                          kind.run();
                        }
                      })
                  .handle(
                      Pair.class,
                      dispatch,
                      (pair, request) -> {
                        switch ((int) pair.first()) {
                          case 1 -> kind.run();
                          case 2 -> request.respond(new Bomb(2, Bomb.SIZE));
                          case 3 -> request.respond(new Bomb(3, Bomb.WRITE));
                          case 4 -> request.respond(new Bomb(4, Bomb.READ));
                          default -> request.respond(new Response(pair.second()));
                        }
                      }));
      there.listen(telling);
      Node here = nodes.start(options(1, kind).type(Pair.class));
      here.listen(new Telling(kind));
      Peer peer = here.peer(2);
      for (int place : new int[] {Bomb.SIZE, Bomb.WRITE}) {
        assertThatThrownBy(() -> peer.send(new Bomb(0, place)))
            .isInstanceOf(kind.made().getClass());
      }
      peer.send(new Bomb(0, Bomb.READ));
      long taken = peer.send(new Bomb(1, Bomb.NOT));
      for (int i = 2; i < 5; i++) {
        taken = peer.send(new Bomb(i, Bomb.NOT));
      }
      assertThat(peer.awaitDelivered(taken, LIMIT)).as("%s", dispatch).isTrue();
      await(() -> got.get() == 4);
      for (int i = 1; i < 4; i++) {
        assertThat(codeOf(peer, new Pair(i, 0), Bomb.class))
            .as("%s %d", dispatch, i)
            .isEqualTo(Code.REMOTE_ERROR);
      }
      assertThat(codeOf(peer, new Pair(4, 0), Bomb.class)).isEqualTo(Code.TYPE_MISMATCH);
      assertThat(peer.request(new Pair(0, 7), Response.class, LIMIT).value()).isEqualTo(7);
      await(() -> telling.told.size() >= 6); // the response may be here before the listener hears
      assertThat(there.counters().dropped()).isEqualTo(1);
      assertThat(there.counters().failed()).isEqualTo(4);
      assertThat(telling.told).contains("connected", "dropped", "failed").hasSize(6);
      assertThat(here.counters().openRequests()).isZero();
      assertThat(there.counters().lost() + here.counters().lost()).isZero();
      here.close();
      there.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void fromWhoeverIsToldOfAnResponse(Kind kind) throws Exception {
    AtomicInteger got = new AtomicInteger();
    Node there =
        nodes.start(
            options(2, kind)
                .handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) ->
                        request.respond(new Bomb(0, pair.first() == 2 ? Bomb.READ : Bomb.NOT))));
    Node here =
        nodes.start(
            options(1, kind)
                .type(Pair.class)
                .receive(Bomb.class, Dispatch.ORDERED, (bomb, from) -> got.incrementAndGet()));
    Peer peer = here.peer(2);
    assertThat(peer.request(new Pair(1, 0), Bomb.class, LIMIT)).isNotNull();
    Telling telling = new Telling(null);
    here.listen(telling);
    AtomicInteger told = new AtomicInteger();
    BiConsumer<Bomb, MessagingException> throwing =
        (bomb, failure) -> {
          told.incrementAndGet();
          kind.run();
        };
    Executor refusing = task -> kind.run();
    int each = 5;
    for (int i = 0; i < each; i++) {
      peer.requestAsync(new Pair(1, i), Bomb.class, LIMIT).whenDone(Runnable::run, throwing);
      peer.requestAsync(new Pair(2, i), Bomb.class, LIMIT).whenDone(Runnable::run, throwing);
      peer.requestAsync(new Pair(1, i), Bomb.class, LIMIT).whenDone(refusing, throwing);
    }
    await(() -> told.get() == 2 * each);
    there.peer(1).send(new Bomb(0, Bomb.NOT));
    await(() -> got.get() == 1);
    await(() -> here.counters().openRequests() == 0 && telling.told.size() == 3 * each);
    assertThat(here.counters().failed()).isEqualTo(3L * each);
    assertThat(telling.told).containsOnly("failed");
  }

  @ParameterizedTest
  @EnumSource
  void fromADirectory(Kind kind) throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    Node there =
        nodes.start(
            options(2, kind)
                .handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) -> request.respond(new Response(pair.second()))));
    AtomicBoolean throwing = new AtomicBoolean(true);
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), there.port());
    Node here =
        nodes.start(
            options(1, kind)
                .type(Pair.class)
                .directory(
                    id -> {
                      if (throwing.get()) {
                        kind.run();
                      }
                      return address;
                    }));
    Telling telling = new Telling(kind);
    here.listen(telling);
    Peer peer = here.peer(2);
    assertThat(peer.trySend(new Pair(0, 0))).isEqualTo(Peer.CONNECTING);
    await(() -> !telling.told.isEmpty());
    assertThat(telling.told.peek()).startsWith("unreachable the directory of nodes has failed: ");
    assertThat(peer.reason()).contains(kind.made().getClass().getName());
    throwing.set(false);
    assertThat(peer.request(new Pair(0, 7), Response.class, LIMIT).value()).isEqualTo(7);
  }
}
