// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.TestJvm;
import io.talaria.messaging.Transport;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;

/** Has the node in a process of its own, and a shell that stops either process for moments. */
final class FarProcess extends FarNode {
  private final ChildProcess process;
  private final ChildProcess stopper;

  private FarProcess(ChildProcess process, int port) throws IOException {
    super(port);
    this.process = process;
    String script = "while read p s; do kill -STOP $p && sleep $s && kill -CONT $p; done";
    stopper = ChildProcess.command("sh", "-c", script).start();
  }

  static FarProcess start(Transport transport, int dataRingBytes, Path directory)
      throws IOException, InterruptedException {
    ChildProcess process =
        TestJvm.of(WakeUps.class, 256, transport.name(), dataRingBytes, directory).start();
    return new FarProcess(process, Integer.parseInt(process.awaitLine("-?\\d+", LIMIT).group()));
  }

  @Override
  void stopForAMoment(Random random) throws IOException {
    stopForAMoment(process.pid(), random);
  }

  @Override
  void stopCallerForAMoment(Random random) throws IOException {
    stopForAMoment(ProcessHandle.current().pid(), random);
  }

  private void stopForAMoment(long pid, Random random) throws IOException {
    stopper.send(pid + " 0.00" + random.nextInt(10));
  }

  @Override
  void tell() throws IOException {
    process.send("");
  }

  @Override
  String said() {
    return process.errText();
  }

  @Override
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

  @Override
  void close() throws Exception {
    endStopper();
    stopper.close();
    process.close();
  }
}
