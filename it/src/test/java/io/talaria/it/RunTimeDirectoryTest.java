// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Modes;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Tmpfs;
import io.talaria.nio.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Without a usable run-time directory nothing can be negotiated: connections stay on TCP. There is
 * no counters file then, so the log of the side that would announce a listener says why.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
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

  /** Both sides work, but do not see each other. */
  @Test
  void differentDirectoriesLeaveItPlain() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", lab.scratch().resolve("other"));
    exchange.run();
    Modes.awaitPlain(exchange.client(), Reason.PEER_PLAIN);
    Modes.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }
}
