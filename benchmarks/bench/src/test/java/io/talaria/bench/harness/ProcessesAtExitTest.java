// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ProcessesAtExitTest {
  private static final String WRITES_ITS_ID = "echo $$ >>\"$0\"; exec sleep 600";

  /** Starts processes for as long as it may, and exits meanwhile. */
  static final class Starter {
    private Starter() {}

    public static void main(String[] args) throws Exception {
      Thread exiting = new Thread(() -> System.exit(0));
      ProcessBuilder builder = new ProcessBuilder("sh", "-c", WRITES_ITS_ID, args[0]);
      while (true) {
        try {
          ProcessesAtExit.start(builder, Duration.ofSeconds(10));
        } catch (IOException e) {
          System.out.println(e.getMessage());
          return;
        }
        if (exiting.getState() == Thread.State.NEW) {
          exiting.start();
        }
      }
    }
  }

  @RepeatedTest(3)
  void oneThatIsJustBeingStartedEndsToo(@TempDir Path folder) throws Exception {
    Path ids = Files.createFile(folder.resolve("ids"));
    try (ChildProcess starter = ChildProcess.jvm(Starter.class, ids.toString()).start()) {
      starter.awaitLine("this JVM exits", Duration.ofSeconds(30));
      assertThat(starter.awaitEnd(Duration.ofSeconds(30))).isZero();
    }
    List<String> started = Files.readAllLines(ids);
    assertThat(started)
        .noneMatch(
            id -> ProcessHandle.of(Long.parseLong(id)).map(ProcessHandle::isAlive).orElse(false));
  }
}
