// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.TestJvm;
import io.talaria.messaging.Transport;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Node 2 of {@link WakeUps} in a process of its own, and a shell that stops either process for
 * moments. For one thread, which closes it.
 */
final class FarNode {
  private static final long END_S = 60;

  private final Path said;
  private final Process process;
  private final Process stopper;
  private final OutputStream stops;

  /** Where it listens; 0 if by shared memory alone. */
  final int port;

  FarNode(Transport transport, int dataRingBytes, Path directory) throws IOException {
    said = directory.resolve("child");
    process =
        TestJvm.start(
            WakeUps.class,
            256,
            said,
            transport.name(),
            Integer.toString(dataRingBytes),
            directory.toString());
    String first = process.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(first).as(this::said).isNotNull();
    port = Integer.parseInt(first);
    String script = "while read p s; do kill -STOP $p && sleep $s && kill -CONT $p; done";
    stopper = new ProcessBuilder("sh", "-c", script).start();
    stops = stopper.getOutputStream();
  }

  /** Stops it for less than 10 ms, soon. */
  void stopForAMoment(Random random) throws IOException {
    stopForAMoment(process.pid(), random);
  }

  /** Stops the calling process so. */
  void stopCallerForAMoment(Random random) throws IOException {
    stopForAMoment(ProcessHandle.current().pid(), random);
  }

  private void stopForAMoment(long pid, Random random) throws IOException {
    String line = pid + " 0.00" + random.nextInt(10) + "\n";
    stops.write(line.getBytes(StandardCharsets.US_ASCII));
    stops.flush();
  }

  /** Makes it tell how it stands; {@link #said} has it soon. */
  void tell() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  /** All that it has written. */
  String said() {
    try {
      return Files.readString(said);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Has it close its node and end. */
  void end() throws Exception {
    endStopper();
    process.getOutputStream().close();
    assertThat(process.waitFor(END_S, TimeUnit.SECONDS)).as("ended by itself").isTrue();
  }

  /** In peace: killed, it might leave somebody stopped. */
  private void endStopper() throws IOException, InterruptedException {
    stops.close();
    assertThat(stopper.waitFor(END_S, TimeUnit.SECONDS)).isTrue();
  }

  /** Ends all of it, however it stands. */
  void close() throws Exception {
    endStopper();
    process.destroyForcibly();
  }
}
