// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NeedsUcx.class)
@Timeout(60)
class ListenerTest {
  private final Arena arena = Arena.ofConfined();
  private Context context;
  private Worker server;
  private Worker client;
  private Listener listener;

  @BeforeEach
  void open() {
    context = Pair.context(Feature.STREAM);
    server = Worker.open(context, Worker.Options.defaults());
    client = Worker.open(context, Worker.Options.defaults().clientId(4711));
    listener = server.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    context.close();
    arena.close();
  }

  private void progress() {
    server.progress();
    client.progress();
  }

  private ConnectionRequest awaitClient() {
    AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    Pair.until(
        () -> {
          request.set(listener.poll());
          return request.get() != null;
        },
        this::progress);
    return request.get();
  }

  @Test
  void aClientIsAccepted() {
    assertThat(listener.address().getPort()).isPositive();
    Endpoint there =
        client.connect(Endpoint.Options.to(listener.address()).name("a client").sendClientId());
    ConnectionRequest request = awaitClient();
    assertThat(request.clientAddress().getAddress().isLoopbackAddress()).isTrue();
    assertThat(request.clientId()).isEqualTo(4711);
    Endpoint here = server.accept(request, Endpoint.Options.accepting());
    assertThatIllegalStateException()
        .isThrownBy(() -> server.accept(request, Endpoint.Options.accepting()))
        .withMessageContaining("accepted or rejected before");
    connect(there, here);
    exchange(there, here);
    exchange(here, there);
    assertThat(there.remoteAddress().getPort()).isEqualTo(listener.address().getPort());
    assertThat(here.localAddress().getPort()).isPositive();
    assertThat(there.transports()).isNotEmpty();
  }

  @Test
  void anotherWorkerAccepts() {
    try (Worker other = Worker.open(context, Worker.Options.defaults())) {
      Endpoint there = client.connect(Endpoint.Options.to(listener.address()));
      Endpoint here = other.accept(awaitClient(), Endpoint.Options.accepting());
      assertThat(here.worker()).isSameAs(other);
      connect(there, here);
      MemorySegment buffer = Pair.pattern(arena, 100);
      StreamChunk chunk = new StreamChunk();
      long send = there.sendStream(buffer, 0, 100, 0);
      Pair.until(
          () -> {
            progress();
            return here.receiveStream(chunk) > 0;
          },
          other::progress);
      assertThat(chunk.length()).isEqualTo(100);
      chunk.release();
      Pair.until(
          () -> send <= 0 || client.status(send) == 0,
          () -> {
            progress();
            other.progress();
          });
    }
  }

  /** Lets the two sides find each other. */
  private void connect(Endpoint there, Endpoint here) {
    long first = there.flush();
    long second = here.flush();
    Pair.until(
        () ->
            (first <= 0 || there.worker().status(first) != Status.IN_PROGRESS)
                && (second <= 0 || here.worker().status(second) != Status.IN_PROGRESS),
        () -> {
          progress();
          here.worker().progress();
        });
    for (long status : new long[] {first, second}) {
      assertThat(status).isNotNegative();
    }
  }

  private void exchange(Endpoint from, Endpoint to) {
    MemorySegment buffer = Pair.pattern(arena, 5000);
    StreamChunk chunk = new StreamChunk();
    long send = from.sendStream(buffer, 0, 5000, 0);
    long[] count = new long[1];
    Pair.until(
        () -> {
          count[0] += Math.max(0, to.receiveStream(chunk));
          chunk.release();
          return count[0] == 5000;
        },
        this::progress);
    Pair.until(() -> send <= 0 || from.worker().status(send) == 0, this::progress);
  }

  @Test
  void aRejectedClientFindsAFailure() {
    Endpoint there = client.connect(Endpoint.Options.to(listener.address()));
    ConnectionRequest request = awaitClient();
    request.reject();
    assertThatIllegalStateException().isThrownBy(request::reject);
    Pair.until(() -> there.failure() != 0, this::progress);
    assertThat(there.failure()).isNegative();
    Endpoint[] failed = new Endpoint[4];
    assertThat(client.pollFailures(failed)).isEqualTo(1);
    assertThat(failed[0]).isSameAs(there);
    there.close();
    assertThat(client.pollFailures(failed)).isZero();
  }

  @Test
  void aClientThatWasOnlyPolledIsRejectedWithTheListener() {
    Endpoint there = client.connect(Endpoint.Options.to(listener.address()));
    ConnectionRequest request = awaitClient();
    listener.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> server.accept(request, Endpoint.Options.accepting()))
        .withMessage("the listener is closed");
    Pair.until(() -> there.failure() != 0, this::progress);
    assertThat(there.failure()).isNegative();
  }

  @Test
  void nobodyListensAnyLonger() {
    InetSocketAddress address = listener.address();
    listener.close();
    listener.close();
    assertThatIllegalStateException().isThrownBy(listener::poll);
    Endpoint there = client.connect(Endpoint.Options.to(address));
    Pair.until(() -> there.failure() != 0, this::progress);
    assertThat(there.sendStream(arena.allocate(8), 0, 8, 0)).isNegative();
  }

  @Test
  void aClientThatWaitedForAClosedListenerCannotBeAccepted() {
    Endpoint there = client.connect(Endpoint.Options.to(listener.address()));
    ConnectionRequest request = awaitClient();
    request.reject();
    listener.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> server.accept(request, Endpoint.Options.accepting()));
    Pair.until(() -> there.failure() != 0, this::progress);
  }
}
