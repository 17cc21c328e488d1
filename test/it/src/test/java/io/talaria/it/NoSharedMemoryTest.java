// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Tmpfs;
import io.talaria.it.harness.Transports;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Without usable shared memory connections stay on TCP, say why, and carry their bytes rightly. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class NoSharedMemoryTest {
  @RegisterExtension final Lab lab = new Lab();

  @Test
  void fullSharedMemoryLeavesItPlain() throws Exception {
    plainBecauseOf(Tmpfs.mountFull(lab), Reason.SHM_FULL);
  }

  @Test
  void readOnlySharedMemoryLeavesItPlain() throws Exception {
    plainBecauseOf(Tmpfs.mount(lab, "ro,size=64k").resolve("shm"), Reason.NO_SHM_DIR);
  }

  @Test
  void readOnlyDirectoryThatExistsLeavesItPlain() throws Exception {
    plainBecauseOf(Tmpfs.mount(lab, "ro,size=64k,mode=700"), Reason.NO_SHM_DIR);
  }

  @Test
  void missingSharedMemoryLeavesItPlain() throws Exception {
    plainBecauseOf(lab.scratch().resolve("missing/shm"), Reason.NO_SHM_DIR);
  }

  @Test
  void directoryOpenToOthersLeavesItPlain() throws Exception {
    Path open = Files.createDirectory(lab.scratch().resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    plainBecauseOf(open, Reason.INSECURE_DIR);
  }

  @Test
  void linkToADirectoryLeavesItPlain() throws Exception {
    Path target =
        Files.createDirectory(
            lab.scratch().resolve("target"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    plainBecauseOf(
        Files.createSymbolicLink(lab.scratch().resolve("link"), target), Reason.INSECURE_DIR);
  }

  /** Each side has shared memory, but not the same. */
  @Test
  void differentDirectoriesLeaveItPlain() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    Path other = lab.scratch().resolve("other");
    exchange.serverSpec().property("talaria.shm.dir", other);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.OTHER_SHM_DIR, Reason.REFUSED);
    exchange.end();
    assertThat(other.toFile().list()).isNullOrEmpty();
  }

  private void plainBecauseOf(Path shmDir, Reason reason) throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.shm.dir", shmDir);
    exchange.clientSpec().property("talaria.shm.dir", shmDir);
    exchange.run();
    Transports.awaitPlain(exchange.client(), reason);
    exchange.client().awaitLog(reason.code());
    for (Child side : List.of(exchange.client(), exchange.server())) {
      assertThat(Transports.of(side))
          .allMatch(connection -> connection.transport() == NioTransport.TCP);
    }
    exchange.end();
  }

  /** There is room for small rings, and none for them to grow. */
  @Test
  void crampedSharedMemoryKeepsRingsSmall() throws Exception {
    Pair.BOTH.assume();
    Path cramped = Tmpfs.mount(lab, "size=1536k,mode=700");
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.shm.dir", cramped);
    exchange.clientSpec().property("talaria.shm.dir", cramped);
    exchange.run().expectTransport();
    for (Child side : List.of(exchange.client(), exchange.server())) {
      ConnectionInfo connection = Transports.await(side, NioTransport.SHM, Reason.SAME_HOST);
      assertThat(connection.ringInBytes()).isLessThan(512 << 10);
      assertThat(connection.ringOutBytes()).isLessThan(512 << 10);
    }
    exchange.end();
  }
}
