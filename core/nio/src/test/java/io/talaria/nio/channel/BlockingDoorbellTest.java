// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.doorbell.DoorbellAudit;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.shm.OwnProvider;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads that sleep in blocking calls on a doorbell, and all that wakes them: each is seen to
 * sleep there first.
 */
@Timeout(120)
class BlockingDoorbellTest {
  private static final long DEADLINE_S = 30;
  private static final int MUCH = 16 << 20;

  private SelectorProvider provider;
  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;
  private long missedBefore;

  /** A call on a thread of its own. */
  private static final class Call<T> {
    private final FutureTask<T> task;
    private final Thread thread;

    Call(Callable<T> work) {
      task = new FutureTask<>(work);
      thread = new Thread(task, "call");
      thread.setDaemon(true);
      thread.start();
    }

    /** Comes back when it sleeps on a doorbell. */
    Call<T> onDoorbell() throws Exception {
      long start = System.nanoTime();
      while (!sleeps("java.io.FileInputStream")) {
        assertAsleepInTime(start);
      }
      return this;
    }

    /** Comes back when it sleeps in a poll, of a doorbell or of the control connection. */
    Call<T> inPoll() throws Exception {
      long start = System.nanoTime();
      while (!sleeps("sun.nio.ch.Net")) {
        assertAsleepInTime(start);
      }
      return this;
    }

    private void assertAsleepInTime(long start) throws Exception {
      assertThat(task.isDone()).as("over, instead of asleep").isFalse();
      assertThat(System.nanoTime() - start)
          .as("%s", (Object) Arrays.asList(thread.getStackTrace()))
          .isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
      Thread.sleep(1);
    }

    private boolean sleeps(String type) {
      StackTraceElement[] stack = thread.getStackTrace();
      return stack.length > 0 && stack[0].isNativeMethod() && stack[0].getClassName().equals(type);
    }

    T result() throws Exception {
      return task.get(DEADLINE_S, TimeUnit.SECONDS);
    }

    Throwable failure() throws Exception {
      try {
        return new AssertionError("the result was " + result());
      } catch (ExecutionException e) {
        return e.getCause();
      }
    }
  }

  @BeforeEach
  void connect() throws Exception {
    missedBefore = DoorbellAudit.missed();
    provider = OwnProvider.open().provider();
    listener = provider.openServerSocketChannel();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    client = provider.openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
    accelerate(client, server);
    learnDoorbells();
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    listener.close();
    assertThat(DoorbellAudit.missed() - missedBefore).as("doorbells missed").isZero();
  }

  private static void accelerate(SocketChannel one, SocketChannel other) throws Exception {
    ConnectionPath first = ((TalariaSocketChannel) one).connectionPath();
    ConnectionPath second = ((TalariaSocketChannel) other).connectionPath();
    long start = System.nanoTime();
    for (int more = 1; more > 0; more -= first.switched() && second.switched() ? 1 : 0) {
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
      one.write(ByteBuffer.allocate(1));
      other.read(ByteBuffer.allocate(1));
      other.write(ByteBuffer.allocate(1));
      one.read(ByteBuffer.allocate(1));
    }
  }

  /** Two more than sleep at once in a test are known to the peer, by either direction. */
  private void learnDoorbells() throws Exception {
    long start = System.nanoTime();
    for (SocketChannel each : List.of(client, server)) {
      var stream = ((TalariaSocketChannel) each).connectionPath().stream();
      var pool = DoorbellPool.ofProcess();
      var leased = new ArrayList<io.talaria.nio.doorbell.ThreadDoorbell>();
      for (int i = 0; i < 4; i++) {
        var one = pool.lease(null);
        assertThat(one)
            .as("doorbell %d of a pool with %d descriptors", i, pool.descriptors())
            .isNotNull();
        leased.add(one);
      }
      for (var doorbell : leased) {
        while (!stream.rings(doorbell.number())) {
          assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(DEADLINE_S));
          Thread.sleep(1);
        }
        doorbell.giveBack();
      }
    }
  }

  private Call<Integer> reading() throws Exception {
    return new Call<>(() -> client.read(ByteBuffer.allocate(10))).onDoorbell();
  }

  /** Writes until there is no more room. */
  private Call<Integer> writing() throws Exception {
    return new Call<>(() -> client.write(ByteBuffer.allocate(MUCH))).onDoorbell();
  }

  /** It had written a part, so it reports that. */
  private static void assertPart(Call<Integer> writing) throws Exception {
    assertThat(writing.result()).isPositive().isLessThan(MUCH);
  }

  private static long readAll(SocketChannel channel, long most) throws Exception {
    long read = 0;
    ByteBuffer into = ByteBuffer.allocate(1 << 16);
    while (read < most) {
      read += channel.read(into.clear());
    }
    return read;
  }

  // ---- news of the peer's

  @Test
  void aReaderIsWokenByAWriteAgainAndAgain() throws Exception {
    for (int i = 0; i < 50; i++) {
      Call<Integer> reading = reading();
      server.write(ByteBuffer.allocate(3));
      assertThat(reading.result()).isEqualTo(3);
    }
  }

  @Test
  void aWriterIsWokenByRoom() throws Exception {
    Call<Integer> writing = writing();
    assertThat(readAll(server, MUCH)).isEqualTo(MUCH);
    assertThat(writing.result()).isEqualTo(MUCH);
  }

  @Test
  void aReaderAndAWriterOfOneChannelSleepSideBySide() throws Exception {
    Call<Integer> writing = writing();
    Call<Integer> reading = reading();
    server.write(ByteBuffer.allocate(2));
    assertThat(reading.result()).isEqualTo(2);
    Call<Integer> again = reading();
    assertThat(readAll(server, MUCH)).isEqualTo(MUCH);
    assertThat(writing.result()).isEqualTo(MUCH);
    server.write(ByteBuffer.allocate(1));
    assertThat(again.result()).isEqualTo(1);
  }

  @Test
  void theAdaptorsStreamsAreWoken() throws Exception {
    InputStream adaptors = client.socket().getInputStream();
    InputStream channels = Channels.newInputStream(client);
    OutputStream out = server.socket().getOutputStream();
    for (InputStream in : List.of(adaptors, channels)) {
      Call<Integer> reading = new Call<>(in::read).onDoorbell();
      out.write(7);
      assertThat(reading.result()).isEqualTo(7);
    }
  }

  @Test
  void aReadWithATimeoutIsWokenOrTimesOut() throws Exception {
    client.socket().setSoTimeout((int) TimeUnit.HOURS.toMillis(1));
    InputStream in = client.socket().getInputStream();
    Call<Integer> reading = new Call<>(in::read).inPoll();
    server.write(ByteBuffer.wrap(new byte[] {5}));
    assertThat(reading.result()).isEqualTo(5);

    client.socket().setSoTimeout(30);
    assertThatThrownBy(in::read)
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("Read timed out");
    server.write(ByteBuffer.wrap(new byte[] {6}));
    assertThat(in.read()).isEqualTo(6);
  }

  @Test
  void aReaderIsWokenByThePeersEnd() throws Exception {
    Call<Integer> reading = reading();
    server.shutdownOutput();
    assertThat(reading.result()).isEqualTo(-1);
  }

  @Test
  void aReaderIsWokenByThePeersClose() throws Exception {
    Call<Integer> reading = reading();
    server.close();
    assertThat(reading.result()).isEqualTo(-1);
  }

  @Test
  void aReaderIsWokenByThePeersReset() throws Exception {
    client.write(ByteBuffer.allocate(1));
    Call<Integer> reading = reading();
    server.close(); // with a byte unread
    assertThat(reading.failure()).hasMessage("Connection reset");
  }

  @Test
  void aWriterIsWokenByThePeersClose() throws Exception {
    Call<Integer> writing = writing();
    server.close();
    assertPart(writing);
  }

  // ---- what happens on this side

  @Test
  void closingWakesReaderAndWriter() throws Exception {
    Call<Integer> reading = reading();
    Call<Integer> writing = writing();
    client.close();
    assertThat(reading.failure()).isInstanceOf(AsynchronousCloseException.class);
    assertPart(writing);
  }

  @Test
  void anInterruptClosesAndWakes() throws Exception {
    Call<Integer> reading = reading();
    Call<Integer> writing = writing();
    reading.thread.interrupt();
    assertThat(reading.failure()).isInstanceOf(ClosedByInterruptException.class);
    assertPart(writing);
    assertThat(client.isOpen()).isFalse();
  }

  @Test
  void anInterruptOfAReadWithATimeoutDoesTheSame() throws Exception {
    client.socket().setSoTimeout((int) TimeUnit.HOURS.toMillis(1));
    Call<Integer> reading = new Call<>(client.socket().getInputStream()::read).inPoll();
    reading.thread.interrupt();
    assertThat(reading.failure()).isInstanceOf(ClosedByInterruptException.class);
  }

  @Test
  void shutdownsWake() throws Exception {
    Call<Integer> reading = reading();
    client.shutdownInput();
    assertThat(reading.result()).isEqualTo(-1);
    Call<Integer> writing = writing();
    client.shutdownOutput();
    assertPart(writing);
  }

  /** The doorbell is none the worse for what has happened to its sleepers. */
  @Test
  void theNextConnectionUsesTheSameDoorbells() throws Exception {
    int before = DoorbellPool.ofProcess().descriptors();
    for (int i = 0; i < 20; i++) {
      SocketChannel one = provider.openSocketChannel();
      one.connect(listener.getLocalAddress());
      try (SocketChannel other = listener.accept()) {
        accelerate(one, other);
        Call<Integer> reading = new Call<>(() -> one.read(ByteBuffer.allocate(1))).onDoorbell();
        if (i % 2 == 0) {
          reading.thread.interrupt();
          assertThat(reading.failure()).isInstanceOf(ClosedByInterruptException.class);
        } else {
          one.close();
          assertThat(reading.failure()).isInstanceOf(AsynchronousCloseException.class);
        }
      }
    }
    assertThat(DoorbellPool.ofProcess().descriptors()).isEqualTo(before);
  }

  // ---- a virtual thread, and too many threads

  @Test
  void aVirtualThreadSleepsOnTheControlConnection() throws Exception {
    if (Runtime.version().feature() < 21) {
      return;
    }
    FutureTask<Integer> reading = new FutureTask<>(() -> client.read(ByteBuffer.allocate(1)));
    Object thread =
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, reading);
    assertThat(JdkNio.isVirtual((Thread) thread)).isTrue();
    ConnectionPath connectionPath = ((TalariaSocketChannel) client).connectionPath();
    Thread.sleep(50);
    assertThat(connectionPath.readiness(1)).isZero();
    server.write(ByteBuffer.allocate(1));
    assertThat(reading.get(DEADLINE_S, TimeUnit.SECONDS)).isEqualTo(1);
  }

  @Test
  void moreSleepersThanDoorbellsAreAllWokenAndTakeNoMoreDescriptors() throws Exception {
    int sleepers = DoorbellPool.MAX_FOR_THREADS + 44;
    int before = DoorbellPool.ofProcess().descriptors(); // with those of selectors of earlier tests
    List<SocketChannel> ones = new ArrayList<>();
    List<SocketChannel> others = new ArrayList<>();
    try {
      for (int i = 0; i < sleepers; i++) {
        SocketChannel one = provider.openSocketChannel();
        ones.add(one);
        one.connect(listener.getLocalAddress());
        others.add(listener.accept());
        accelerate(one, others.get(i));
      }
      for (int round = 0; round < 4; round++) {
        List<Call<Integer>> reading = new ArrayList<>();
        for (SocketChannel one : ones) {
          reading.add(new Call<>(() -> one.read(ByteBuffer.allocate(1))));
        }
        for (Call<Integer> each : reading) {
          awaitAsleep(each);
        }
        for (SocketChannel other : others) {
          other.write(ByteBuffer.allocate(1));
        }
        for (Call<Integer> each : reading) {
          assertThat(each.result()).isEqualTo(1);
        }
      }
      assertThat(DoorbellPool.ofProcess().descriptors() - before)
          .isLessThanOrEqualTo(3 * DoorbellPool.MAX_FOR_THREADS);
    } finally {
      for (SocketChannel each : ones) {
        each.close();
      }
      for (SocketChannel each : others) {
        each.close();
      }
    }
  }

  private static void awaitAsleep(Call<Integer> call) throws Exception {
    long start = System.nanoTime();
    while (!call.sleeps("java.io.FileInputStream") && !call.sleeps("sun.nio.ch.Net")) {
      call.assertAsleepInTime(start);
    }
  }
}
