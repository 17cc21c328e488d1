// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What an endpoint that has carried bytes leaves behind after each kind of close, counted in {@code
 * /proc/self}: mappings of UCX's shared memory, or sockets of UCX's tcp. An endpoint takes two
 * mappings or one socket; both ends of a connection are in this process.
 */
@ExtendWith(NeedsUcx.class)
@Timeout(120)
class ClosedEndpointsTest {
  private static final int CONNECTIONS = 50;

  /** Rounds of progress within which UCX releases an endpoint that was closed by force. */
  private static final int ROUNDS = 8;

  enum Transport {
    SHARED_MEMORY("posix,self", 2) {
      @Override
      long count() {
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
          return mappings.filter(line -> line.contains("ucx_shm")).count();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    },
    TCP("tcp,self", 1) {
      @Override
      long count() {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
          return descriptors.filter(Transport::isSocket).count();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };

    final String names;

    /** What all endpoints of one side take. */
    final long ofOneSide;

    Transport(String names, int ofOne) {
      this.names = names;
      this.ofOneSide = (long) ofOne * CONNECTIONS;
    }

    abstract long count();

    private static boolean isSocket(Path descriptor) {
      try {
        return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
      } catch (IOException e) {
        return false; // the descriptor of the list itself
      }
    }
  }

  /** Two workers, each of a context of its own as in two processes, and connections on them. */
  private static final class Two implements AutoCloseable {
    final Transport transport;
    final long before;
    final Context leftContext;
    final Context rightContext;
    final Worker left;
    final Worker right;
    final long workers;
    final Endpoint[] toRight = new Endpoint[CONNECTIONS];
    final Endpoint[] toLeft = new Endpoint[CONNECTIONS];

    Two(Transport transport) {
      this.transport = transport;
      before = transport.count();
      leftContext = context(transport);
      rightContext = context(transport);
      left = Worker.open(leftContext, Worker.Options.defaults());
      right = Worker.open(rightContext, Worker.Options.defaults());
      workers = transport.count();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment one = arena.allocate(1);
        for (int i = 0; i < CONNECTIONS; i++) {
          toRight[i] = left.connect(Endpoint.Options.to(right.address()));
          toLeft[i] = right.connect(Endpoint.Options.to(left.address()));
          long there = toRight[i].sendStream(one, 0, 1, 0);
          long back = toLeft[i].sendStream(one, 0, 1, 0);
          receive(toLeft[i]);
          receive(toRight[i]);
          assertThat(finish(left, there)).isEqualTo(Status.OK);
          assertThat(finish(right, back)).isEqualTo(Status.OK);
        }
      }
      // Where both sides connect at once, tcp closes the socket that is too many when it finds
      // that.
      Pair.until(() -> held() == 2 * transport.ofOneSide, this::progress);
    }

    private static Context context(Transport transport) {
      try (Config config = Pair.config().set("TLS", transport.names)) {
        return Context.open(Context.Options.of(Feature.STREAM), config);
      }
    }

    void progress() {
      left.progress();
      right.progress();
    }

    private void receive(Endpoint endpoint) {
      StreamChunk chunk = new StreamChunk();
      Pair.until(() -> endpoint.receiveStream(chunk) > 0, this::progress);
      chunk.release();
    }

    int finish(Worker worker, long request) {
      if (request <= 0) {
        return (int) request;
      }
      Pair.until(() -> worker.status(request) != Status.IN_PROGRESS, this::progress);
      return worker.poll(request);
    }

    void closeForced(Worker worker, Endpoint[] endpoints) {
      for (Endpoint each : endpoints) {
        assertThat(finish(worker, each.closeForced())).isEqualTo(Status.OK);
      }
    }

    void closeFlushing(Worker worker, Endpoint[] endpoints) {
      for (Endpoint each : endpoints) {
        assertThat(finish(worker, each.closeFlushing())).isEqualTo(Status.OK);
      }
    }

    void someRounds() {
      for (int i = 0; i < ROUNDS; i++) {
        progress();
      }
    }

    /** What the endpoints hold, closed ones too. */
    long held() {
      return transport.count() - workers;
    }

    @Override
    public void close() {
      left.close();
      right.close();
      leftContext.close();
      rightContext.close();
    }
  }

  private static void assumeThatUcxKeepsThem() {
    assumeTrue(
        Ucx.version().startsWith("1.13."), "known of UCX 1.13 only; here is " + Ucx.version());
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aForcedCloseOfBothEndsReleasesEverythingInAFewRounds(Transport transport) {
    try (Two two = new Two(transport)) {
      two.closeForced(two.left, two.toRight);
      two.closeForced(two.right, two.toLeft);
      two.someRounds();
      assertThat(two.held()).isZero();
    }
  }

  @Test
  void aForcedCloseReleasesNothingBeforeProgressIsMade() {
    assumeThatUcxKeepsThem();
    try (Two two = new Two(Transport.SHARED_MEMORY)) {
      for (Endpoint each : two.toRight) {
        assertThat(each.closeForced()).isZero();
      }
      assertThat(two.held()).isEqualTo(2 * two.transport.ofOneSide);
      two.someRounds();
      assertThat(two.held()).as("what the other ends hold").isEqualTo(two.transport.ofOneSide);
    }
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void anOrdinaryCloseReleasesNothingUntilTheWorkerIsClosed(Transport transport) {
    assumeThatUcxKeepsThem();
    try (Two two = new Two(transport)) {
      two.closeFlushing(two.left, two.toRight);
      two.closeFlushing(two.right, two.toLeft);
      for (int i = 0; i < 100; i++) {
        two.someRounds();
      }
      assertThat(two.held()).isEqualTo(2 * transport.ofOneSide);
    }
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aForcedCloseAfterAFlushReleasesEverything(Transport transport) {
    try (Two two = new Two(transport)) {
      for (int i = 0; i < CONNECTIONS; i++) {
        assertThat(two.finish(two.left, two.toRight[i].flush())).isEqualTo(Status.OK);
        assertThat(two.finish(two.right, two.toLeft[i].flush())).isEqualTo(Status.OK);
      }
      two.closeForced(two.left, two.toRight);
      two.closeForced(two.right, two.toLeft);
      two.someRounds();
      assertThat(two.held()).isZero();
    }
  }

  enum Close {
    NONE,
    FLUSHING,
    FORCED
  }

  @ParameterizedTest
  @EnumSource(Close.class)
  void nothingIsLeftOnceTheWorkersAreClosedHoweverTheEndpointsWere(Close close) {
    for (Transport transport : Transport.values()) {
      Two two = new Two(transport);
      try (two) {
        switch (close) {
          case NONE -> assertThat(two.toRight[0].isOpen()).isTrue();
          case FLUSHING -> two.closeFlushing(two.left, two.toRight);
          case FORCED -> two.closeForced(two.left, two.toRight);
        }
      }
      assertThat(transport.count()).as(transport.names).isEqualTo(two.before);
    }
  }
}
