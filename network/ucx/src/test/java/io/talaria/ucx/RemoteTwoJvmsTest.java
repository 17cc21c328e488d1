// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Remote memory, atomics and active messages between two processes. */
@ExtendWith(NeedsUcx.class)
@Timeout(120)
class RemoteTwoJvmsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path directory;

  private final Arena arena = Arena.ofConfined();
  private Context context;
  private Worker worker;
  private Endpoint endpoint;
  private RemoteMemory allocated;
  private RemoteMemory registered;
  private ChildProcess peer;

  @BeforeEach
  void open() throws IOException, InterruptedException {
    context = RemotePeerMain.context();
    worker = Worker.open(context, Worker.Options.defaults());
    peer =
        ChildProcess.jvm(RemotePeerMain.class)
            .options("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx256m")
            .directory(directory)
            .start();
    endpoint = worker.connect(Endpoint.Options.to(WorkerAddress.of(heard())));
    RemoteKey first = RemoteKey.of(heard());
    RemoteKey second = RemoteKey.of(heard());
    peer.send(HexFormat.of().formatHex(worker.address().toBytes()));
    assertThat(peer.awaitLine(".*", LIMIT).group()).isEqualTo("ready");
    allocated = endpoint.unpack(first);
    registered = endpoint.unpack(second);
  }

  private byte[] heard() throws InterruptedException {
    return HexFormat.of().parseHex(peer.awaitLine(".*", LIMIT).group());
  }

  @AfterEach
  void close() {
    peer.close();
    worker.close();
    context.close();
    arena.close();
  }

  private void done(long request) {
    assertThat(worker.await(request, Pair.LIMIT_NS)).isZero();
  }

  private long value(long request) {
    Pair.until(() -> worker.status(request) != Status.IN_PROGRESS, worker::progress);
    assertThat(worker.status(request)).isZero();
    long value = worker.fetched(request);
    worker.release(request);
    return value;
  }

  /** One peer for all of it: starting a JVM is what takes long. */
  @Test
  void memoryIsAccessedAndMessagesAreEchoed() throws Exception {
    echoMessages();
    for (RemoteMemory memory : List.of(allocated, registered)) {
      for (int size : new int[] {8, 5000, 4 << 20}) {
        MemorySegment sent = Pair.pattern(arena, size);
        MemorySegment got = arena.allocate(size);
        done(memory.put(sent, 0, size, 64, 0));
        done(endpoint.flush());
        done(memory.get(got, 0, size, 64));
        assertThat(got.mismatch(sent)).isEqualTo(-1);
      }
      changeLong(memory);
      changeInt(memory);
    }
    peer.closeInput();
    Pair.until(() -> !peer.isAlive(), worker::progress);
    assertThat(peer.awaitLine(".*", LIMIT).group()).isEqualTo("-77 -77");
    peer.awaitSuccess(LIMIT);
  }

  private void changeLong(RemoteMemory memory) {
    done(memory.addLong(0, 5));
    assertThat(value(memory.fetchAddLong(0, 1L << 40))).isEqualTo(5);
    done(memory.andLong(0, 7));
    done(memory.orLong(0, 8));
    done(memory.xorLong(0, 1));
    assertThat(value(memory.fetchAndLong(0, 12))).isEqualTo(12);
    assertThat(value(memory.fetchOrLong(0, 3))).isEqualTo(12);
    assertThat(value(memory.fetchXorLong(0, 1))).isEqualTo(15);
    assertThat(value(memory.swapLong(0, -9))).isEqualTo(14);
    assertThat(value(memory.compareAndSwapLong(0, 0, 1))).isEqualTo(-9);
    assertThat(value(memory.compareAndSwapLong(0, -9, -77))).isEqualTo(-9);
  }

  private void changeInt(RemoteMemory memory) {
    done(memory.addInt(12, 5));
    assertThat(value(memory.fetchAddInt(12, 1 << 20))).isEqualTo(5);
    done(memory.andInt(12, 7));
    done(memory.orInt(12, 8));
    done(memory.xorInt(12, 1));
    assertThat(value(memory.fetchAndInt(12, 12))).isEqualTo(12);
    assertThat(value(memory.fetchOrInt(12, 3))).isEqualTo(12);
    assertThat(value(memory.fetchXorInt(12, 1))).isEqualTo(15);
    assertThat(value(memory.swapInt(12, -9))).isEqualTo(14);
    assertThat(value(memory.compareAndSwapInt(12, 0, 1))).isEqualTo(-9);
    assertThat(value(memory.compareAndSwapInt(12, -9, 0))).isEqualTo(-9);
  }

  private void echoMessages() {
    MemorySegment header = arena.allocate(16);
    for (int size : new int[] {0, 8, 5000, 4 << 20}) {
      for (int flags : new int[] {0, MessageFlags.EAGER, MessageFlags.RENDEZVOUS}) {
        if (size == 0 && flags == MessageFlags.RENDEZVOUS) {
          continue;
        }
        header.set(ValueLayout.JAVA_INT, 12, size + flags);
        MemorySegment sent = Pair.pattern(arena, size);
        MemorySegment echoed = arena.allocate(Math.max(1, size));
        long[] receive = new long[1];
        worker.onMessage(
            RemotePeerMain.ECHOED,
            message -> {
              assertThat(message.headerIntAt(12)).isEqualTo(header.get(ValueLayout.JAVA_INT, 12));
              assertThat(message.length()).isEqualTo(size);
              receive[0] = message.receive(echoed, 0);
            });
        long send =
            endpoint.sendMessage(
                RemotePeerMain.ECHO, header, 16, sent, 0, size, flags | MessageFlags.REPLY);
        Pair.until(() -> receive[0] != 0, worker::progress);
        done(receive[0]);
        done(send);
        assertThat(echoed.asSlice(0, size).mismatch(sent)).isEqualTo(-1);
      }
    }
  }

  @Test
  void operationsOnAKilledPeerEnd() throws Exception {
    MemorySegment buffer = Pair.pattern(arena, 4 << 20);
    done(registered.put(buffer, 0, 8, 0, 0));
    done(endpoint.flush());
    peer.kill();
    long add = registered.fetchAddLong(0, 1);
    long send =
        endpoint.sendMessage(
            RemotePeerMain.ECHO,
            buffer,
            8,
            buffer,
            0,
            4 << 20,
            MessageFlags.RENDEZVOUS | MessageFlags.REPLY);
    Pair.until(() -> endpoint.failure() != 0, worker::progress);
    Pair.until(() -> send < 0 || worker.status(send) != Status.IN_PROGRESS, worker::progress);
    assertThat(send < 0 ? send : worker.poll(send)).isNegative();
    endpoint.close();
    if (add > 0) {
      worker.release(add);
    }
    assertThat(worker.requestsHeld()).isZero();
  }
}
