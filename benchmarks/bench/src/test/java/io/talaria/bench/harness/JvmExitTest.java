// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A JVM that runs, and one that exits. */
@Timeout(120)
class JvmExitTest {
  /** Says what its exit looks like to its own shutdown hook. */
  static final class Exiting {
    private Exiting() {}

    public static void main(String[] args) {
      Thread other = new Thread(() -> {});
      Thread hook =
          new Thread(() -> System.out.println(JvmExit.begun() + " " + JvmExit.withdraw(other)));
      Runtime.getRuntime().addShutdownHook(hook);
      Runtime.getRuntime().addShutdownHook(other);
      System.out.print(JvmExit.begun() + " ");
    }
  }

  @Test
  void aHookIsWithdrawnBeforeTheExit() {
    Thread hook = new Thread(() -> {});
    Runtime.getRuntime().addShutdownHook(hook);
    assertThat(JvmExit.begun()).isFalse();
    assertThat(JvmExit.withdraw(hook)).isTrue();
    assertThat(Runtime.getRuntime().removeShutdownHook(hook)).as("still registered").isFalse();
  }

  @Test
  void anExitIsSeenAndItsHooksStay() throws Exception {
    ChildProcess exiting = ChildProcess.jvm(Exiting.class).run(Duration.ofSeconds(60));
    assertThat(exiting.output()).isEqualTo("false true false\n");
  }
}
