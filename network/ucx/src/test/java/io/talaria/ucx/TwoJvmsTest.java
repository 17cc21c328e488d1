// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** UCX between two processes. */
@ExtendWith(NeedsUcx.class)
@Timeout(120)
class TwoJvmsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path directory;

  private final Arena arena = Arena.ofConfined();
  private Context context;
  private Worker worker;
  private Endpoint endpoint;
  private ChildProcess peer;

  @BeforeEach
  void open() {
    context = Pair.context(Feature.STREAM, Feature.TAG);
    worker = Worker.open(context, Worker.Options.defaults());
  }

  @AfterEach
  void close() {
    if (peer != null) {
      peer.close();
    }
    worker.close();
    context.close();
    arena.close();
  }

  private void start(String mode) throws IOException, InterruptedException {
    peer =
        ChildProcess.jvm(PeerMain.class, mode)
            .options("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx256m")
            .directory(directory)
            .environment("UCX_LOG_LEVEL", "info")
            .start();
    String line = peer.awaitLine(".*", LIMIT).group();
    assertThat(line).as(peer::toString).startsWith("address ");
    WorkerAddress there =
        WorkerAddress.of(HexFormat.of().parseHex(line.substring("address ".length())));
    endpoint = worker.connect(Endpoint.Options.to(there));
    peer.send(HexFormat.of().formatHex(worker.address().toBytes()));
    assertThat(peer.awaitLine(".*", LIMIT).group()).isEqualTo("ready");
  }

  private void untilEchoed(MemorySegment sent, MemorySegment received) {
    long size = sent.byteSize();
    StreamChunk chunk = new StreamChunk();
    long[] progress = new long[3];
    Pair.until(
        () -> {
          if (progress[2] > 0 && worker.status(progress[2]) != Status.IN_PROGRESS) {
            assertThat(worker.poll(progress[2])).isZero();
            progress[2] = 0;
          }
          if (progress[2] == 0 && progress[0] < size) {
            long part = Math.min(1 << 18, size - progress[0]);
            progress[2] = endpoint.sendStream(sent, progress[0], part, 0);
            assertThat(progress[2]).isNotNegative();
            progress[0] += part;
          }
          long length = endpoint.receiveStream(chunk);
          assertThat(length).isNotNegative();
          if (length > 0) {
            chunk.copyTo(0, received, progress[1], length);
            progress[1] += length;
            chunk.release();
          }
          return progress[1] == size && progress[2] == 0;
        },
        worker::progress);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 5000, 1 << 20, 10_000_001})
  void aStreamIsEchoed(int size) throws Exception {
    start("stream");
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    untilEchoed(sent, received);
    assertThat(received.mismatch(sent)).isEqualTo(-1);
    assertThat(endpoint.transports()).anyMatch(transport -> transport.startsWith("posix/"));
    bye();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16, 5000, 1 << 20, 10_000_001})
  void messagesAreEchoed(int size) throws Exception {
    start("tag");
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    long receive = worker.receiveTag(received, 0, size, 78, -1);
    long send = endpoint.sendTagSync(sent, 0, size, 77, 0);
    Pair.until(() -> worker.status(receive) != Status.IN_PROGRESS, worker::progress);
    assertThat(worker.receivedBytes(receive)).isEqualTo(size);
    assertThat(worker.receivedTag(receive)).isEqualTo(78);
    assertThat(worker.poll(receive)).isZero();
    assertThat(worker.await(send, Pair.LIMIT_NS)).isZero();
    assertThat(received.mismatch(sent)).isEqualTo(-1);
    bye();
  }

  /** Both sides close, and the peer has said nothing but what it should. */
  private void bye() throws Exception {
    List<String> before = peer.out();
    peer.closeInput();
    Pair.until(() -> !peer.isAlive(), worker::progress);
    peer.awaitSuccess(LIMIT);
    List<String> lines = peer.out();
    assertThat(lines.subList(before.size(), lines.size()))
        .as(peer::toString)
        .containsExactly("bye", "hook");
    assertThat(String.join("\n", peer.err())).contains("UCX_ERROR_SIGNALS=");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aKilledPeerIsFoundOut() throws Exception {
    start("stream");
    MemorySegment one = Pair.pattern(arena, 1);
    untilEchoed(one, arena.allocate(1));
    assertThat(endpoint.failure()).isZero();
    MemorySegment buffer = arena.allocate(100);
    long receive = endpoint.receiveStreamFully(buffer, 0, 100);
    peer.kill();
    Pair.until(() -> endpoint.failure() != 0, worker::progress);
    assertThat(endpoint.failure()).isNegative();
    Endpoint[] failed = new Endpoint[2];
    assertThat(worker.pollFailures(failed)).isEqualTo(1);
    assertThat(endpoint.sendStream(buffer, 0, 8, 0)).isNegative();
    Pair.until(() -> worker.status(receive) != Status.IN_PROGRESS, worker::progress);
    assertThat(worker.poll(receive)).isNegative();
    endpoint.close();
    assertThat(worker.pollFailures(failed)).isZero();
  }

  @Test
  void hangUpEndsTheJvmAsUsual() throws Exception {
    assumeFalse(hangUpIsIgnored(), "SIGHUP is ignored here, as under nohup, and by children too");
    start("stream");
    peer.signal("HUP");
    assertThat(peer.awaitEnd(LIMIT)).isEqualTo(129);
    assertThat(peer.awaitLine(".*", LIMIT).group()).isEqualTo("hook");
  }

  private static boolean hangUpIsIgnored() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("SigIgn:")) {
        return (Long.parseUnsignedLong(line.substring(7).trim(), 16) & 1) != 0;
      }
    }
    return false;
  }
}
