// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.TestJvm;
import io.talaria.messaging.Transport;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/**
 * Node 2 of {@link WakeUps} in a process of its own, and a shell that stops either process for
 * moments. For one thread, which closes it.
 */
final class FarNode {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final ChildProcess process;
  private final ChildProcess stopper;

  /** Where it listens; 0 if by shared memory alone. */
  final int port;

  FarNode(Transport transport, int dataRingBytes, Path directory)
      throws IOException, InterruptedException {
    process = TestJvm.of(WakeUps.class, 256, transport.name(), dataRingBytes, directory).start();
    port = Integer.parseInt(process.awaitLine("-?\\d+", LIMIT).group());
    String script = "while read p s; do kill -STOP $p && sleep $s && kill -CONT $p; done";
    stopper = ChildProcess.command("sh", "-c", script).start();
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
    stopper.send(pid + " 0.00" + random.nextInt(10));
  }

  /** Makes it tell how it stands; {@link #said} has it soon. */
  void tell() throws IOException {
    process.send("");
  }

  /** All that it has written. */
  String said() {
    return process.errText();
  }

  /** Has it close its node and end. */
  void end() throws Exception {
    endStopper();
    process.closeInput();
    int unused = process.awaitEnd(LIMIT);
  }

  /** In peace: killed, it might leave somebody stopped. */
  private void endStopper() throws InterruptedException {
    stopper.closeInput();
    int unused = stopper.awaitEnd(LIMIT);
  }

  /** Ends all of it, however it stands. */
  void close() throws Exception {
    endStopper();
    stopper.close();
    process.close();
  }
}
