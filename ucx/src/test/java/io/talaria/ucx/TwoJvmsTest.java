// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
  @TempDir Path directory;

  private final Arena arena = Arena.ofConfined();
  private Context context;
  private Worker worker;
  private Endpoint endpoint;
  private Process peer;
  private BufferedReader said;

  @BeforeEach
  void open() {
    context = Pair.context(Feature.STREAM, Feature.TAG);
    worker = Worker.open(context, Worker.Options.defaults());
  }

  @AfterEach
  void close() {
    if (peer != null) {
      peer.destroyForcibly();
    }
    worker.close();
    context.close();
    arena.close();
  }

  private void start(String mode) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UseSerialGC",
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            PeerMain.class.getName(),
            mode);
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve("stderr").toFile()));
    builder.environment().put("UCX_LOG_LEVEL", "info");
    peer = builder.start();
    said = new BufferedReader(new InputStreamReader(peer.getInputStream(), StandardCharsets.UTF_8));
    String line = said.readLine();
    assertThat(line).as(() -> "errors: " + errors()).startsWith("address ");
    WorkerAddress there =
        WorkerAddress.of(HexFormat.of().parseHex(line.substring("address ".length())));
    endpoint = worker.connect(Endpoint.Options.to(there));
    OutputStream in = peer.getOutputStream();
    in.write(
        (HexFormat.of().formatHex(worker.address().toBytes()) + "\n")
            .getBytes(StandardCharsets.UTF_8));
    in.flush();
    assertThat(said.readLine()).isEqualTo("ready");
  }

  private String errors() {
    try {
      return Files.readString(directory.resolve("stderr"));
    } catch (IOException e) {
      return e.toString();
    }
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
    peer.getOutputStream().close();
    List<String> lines = new ArrayList<>();
    Thread reading =
        new Thread(
            () -> {
              try {
                String line;
                while ((line = said.readLine()) != null) {
                  lines.add(line);
                }
              } catch (IOException e) {
                lines.add(e.toString());
              }
            });
    reading.start();
    Pair.until(() -> !peer.isAlive(), worker::progress);
    reading.join(10_000);
    assertThat(lines).as(() -> "errors: " + errors()).containsExactly("bye", "hook");
    assertThat(peer.exitValue()).isZero();
    assertThat(errors()).contains("UCX_ERROR_SIGNALS=");
    try (var files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString())).containsExactly("stderr");
    }
  }

  @Test
  void aKilledPeerIsFoundOut() throws Exception {
    start("stream");
    MemorySegment one = Pair.pattern(arena, 1);
    untilEchoed(one, arena.allocate(1));
    assertThat(endpoint.failure()).isZero();
    MemorySegment buffer = arena.allocate(100);
    long receive = endpoint.receiveStreamFully(buffer, 0, 100);
    peer.destroyForcibly();
    assertThat(peer.waitFor(20, TimeUnit.SECONDS)).isTrue();
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
    assertThat(new ProcessBuilder("kill", "-HUP", Long.toString(peer.pid())).start().waitFor())
        .isZero();
    assertThat(peer.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(peer.exitValue()).isEqualTo(129);
    assertThat(said.readLine()).isEqualTo("hook");
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
