// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Command;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Tmpfs;
import io.talaria.it.harness.Transports;
import io.talaria.nio.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Without a usable run-time directory nothing can be negotiated: connections stay on TCP. There is
 * no counters file then, so the log of the side that would announce a listener says why.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class RunTimeDirectoryTest {
  @RegisterExtension final Lab lab = new Lab();

  @Test
  void missingDirectoryLeavesItPlain() throws Exception {
    plainBecauseOf(lab.scratch().resolve("missing/run"), Reason.NO_RUNTIME_DIR);
  }

  @Test
  void readOnlyDirectoryLeavesItPlain() throws Exception {
    plainBecauseOf(Tmpfs.mount(lab, "ro,size=64k,mode=700"), Reason.NO_RUNTIME_DIR);
  }

  @Test
  void fileInsteadOfADirectoryLeavesItPlain() throws Exception {
    plainBecauseOf(Files.createFile(lab.scratch().resolve("file")), Reason.INSECURE_DIR);
  }

  @Test
  void directoryOpenToOthersLeavesItPlain() throws Exception {
    Path open = Files.createDirectory(lab.scratch().resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    plainBecauseOf(open, Reason.INSECURE_DIR);
  }

  private void plainBecauseOf(Path dir, Reason reason) throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", dir);
    exchange.clientSpec().property("talaria.dir", dir);
    exchange.run();
    exchange.server().awaitLog(reason.code());
    exchange.end();
  }

  /** Sockets find a place on a full file system, and so do connections; a file does not. */
  @Test
  void fullDirectoryIsToldAndConnectionsAreAccelerated() throws Exception {
    Pair.BOTH.assume();
    Path full = Tmpfs.mountFull(lab);
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", full);
    exchange.clientSpec().property("talaria.dir", full);
    exchange.run();
    for (Child side : List.of(exchange.server(), exchange.client())) {
      side.awaitLog("counters: cannot make a counters file in " + full);
      assertThat(side.errorText()).contains("No space left", "talaria ss does not show");
      while (Proc.mappings(side, lab.shmDir()) == 0) {
        exchange.again();
      }
    }
    assertThat(Command.run(Duration.ofSeconds(100), "ss", "--dir", full.toString()))
        .contains("no process");
    assertThat(doctor(full)).contains("is full").contains("Make room on its file system");
    exchange.end();
  }

  private String doctor(Path dir) throws Exception {
    return Command.run(
        Duration.ofSeconds(100),
        "doctor",
        "--dir",
        dir.toString(),
        "--shm-dir",
        lab.shmDir().toString());
  }

  /** Both sides work, but do not see each other. */
  @Test
  void differentDirectoriesLeaveItPlain() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", lab.scratch().resolve("other"));
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.PEER_NOT_ACCELERATED);
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }
}
