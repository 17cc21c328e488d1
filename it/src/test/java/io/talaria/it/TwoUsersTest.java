// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Modes;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two users of one machine neither see nor join each other's fast path, whichever directories they
 * name. Needs root, which plays one of the users, and {@code setpriv}.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TwoUsersTest {
  private static final String NOBODY = "65534";

  @RegisterExtension final Lab lab = new Lab();

  private ClassPath copied;

  /** The other user can read neither the build's directories nor the test's. */
  @BeforeEach
  void prepare() throws Exception {
    assumeTrue(Proc.root(), "not root: no other user can be played");
    setMode(lab.scratch(), "rwxr-xr-x");
    setMode(lab.shmDir().getParent(), "rwxr-xr-x");
    Path classes = Files.createDirectory(lab.scratch().resolve("classes"));
    copyAll(ClassPath.programs(), classes);
    Path agent = lab.scratch().resolve("agent.jar");
    ClassPath usual = ClassPath.usual();
    if (Files.exists(usual.agent())) {
      Files.copy(usual.agent(), agent);
      setMode(agent, "rw-r--r--");
    }
    copied = new ClassPath(classes.toString(), agent);
  }

  private static void setMode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  private static void copyAll(Path from, Path to) throws IOException {
    setMode(to, "rwxr-xr-x");
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(f -> !f.equals(from)).toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        Files.copy(file, copy);
        setMode(copy, Files.isDirectory(file) ? "rwxr-xr-x" : "rw-r--r--");
      }
    }
  }

  private ChildSpec asNobody(ChildSpec spec) {
    return spec.classPath(copied)
        .under("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
  }

  private Path directoryOf(String user, Path parent, String name) throws Exception {
    Path dir = Files.createDirectory(parent.resolve(name));
    setMode(dir, "rwx------");
    Proc.run("chown", user, dir.toString());
    return dir;
  }

  /** Shows that the tests below fail for the right reason: the other user as such works. */
  @Test
  void otherUserIsAcceleratedAmongItself() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    Path run = directoryOf(NOBODY, lab.scratch(), "run-nobody");
    Path shm = directoryOf(NOBODY, lab.shmDir().getParent(), "shm-nobody");
    for (ChildSpec side : new ChildSpec[] {exchange.serverSpec(), exchange.clientSpec()}) {
      asNobody(side).property("talaria.dir", run).property("talaria.shm.dir", shm);
    }
    exchange.run().expectMode().end();
  }

  @Test
  void otherUserWithoutTheAgentWorks() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.NONE);
    asNobody(exchange.clientSpec());
    exchange.run().end();
  }

  @Test
  void directoriesOfTheirOwn() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    asNobody(exchange.clientSpec())
        .property("talaria.dir", directoryOf(NOBODY, lab.scratch(), "run-nobody"))
        .property("talaria.shm.dir", directoryOf(NOBODY, lab.shmDir().getParent(), "shm-nobody"));
    exchange.run();
    Modes.awaitPlain(exchange.client(), Reason.PEER_PLAIN);
    Modes.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }

  @Test
  void clientNamesTheDirectoryOfTheServersUser() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    asNobody(exchange.clientSpec());
    exchange.run();
    assertSaysInsecure(exchange.client());
    Modes.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }

  /** Root may enter any directory, and yet must not join another user there. */
  @Test
  void serverNamesTheDirectoryOfTheClientsUser() throws Exception {
    Path run = directoryOf(NOBODY, lab.scratch(), "run-nobody");
    Path shm = directoryOf(NOBODY, lab.shmDir().getParent(), "shm-nobody");
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", run).property("talaria.shm.dir", shm);
    asNobody(exchange.clientSpec()).property("talaria.dir", run).property("talaria.shm.dir", shm);
    exchange.run();
    assertSaysInsecure(exchange.server());
    Modes.awaitPlain(exchange.client(), Reason.PEER_PLAIN);
    exchange.end();
  }

  /** A directory open to all would let each see the other; nobody uses it. */
  @Test
  void bothNameADirectoryOpenToAll() throws Exception {
    Path run = directoryOf("0", lab.scratch(), "run-all");
    setMode(run, "rwxrwxrwx");
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", run);
    asNobody(exchange.clientSpec()).property("talaria.dir", run);
    exchange.run();
    assertSaysInsecure(exchange.server());
    assertSaysInsecure(exchange.client());
    assertThat(run.toFile().list()).as("files in a directory open to all").isEmpty();
    exchange.end();
  }

  private static void assertSaysInsecure(Child child) throws InterruptedException {
    child.awaitLog(Reason.INSECURE_DIR.code());
  }
}
