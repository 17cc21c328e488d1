// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Announced;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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
    setMode(lab.shmDir().getParent(), "rwxr-xr-x");
    copied = ClassPath.readableByAll(lab);
  }

  private static void setMode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
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
    exchange.run().expectTransport().end();
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
    Transports.awaitPlain(exchange.client(), Reason.PEER_NOT_ACCELERATED);
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }

  @Test
  void clientNamesTheDirectoryOfTheServersUser() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    asNobody(exchange.clientSpec());
    exchange.run();
    assertSaysInsecure(exchange.client());
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
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
    Transports.awaitPlain(exchange.client(), Reason.PEER_NOT_ACCELERATED);
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

  // ---- what the other user tries by hand

  private static String[] byNobody(String... command) {
    return Stream.concat(
            Stream.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"),
            Stream.of(command))
        .toArray(String[]::new);
  }

  private static void assertDenied(String... command) {
    assertThatThrownBy(() -> Proc.run(byNobody(command)))
        .as(String.join(" ", command))
        .isInstanceOf(IOException.class)
        .hasMessageMatching("(?s).*(Permission denied|not permitted).*");
  }

  /** Neither the directories nor what stands in them, be its name known or not. */
  @Test
  void theOtherUserSeesNothingAndReadsNothing() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH).run();
    Pair.BOTH.assume();
    setMode(lab.shmDir().getParent(), "rwxr-xr-x");
    int names = 0;
    for (Path dir : List.of(lab.talariaDir(), lab.shmDir())) {
      assertDenied("ls", dir.toString());
      assertDenied("touch", dir.resolve("r0000000000000000").toString());
      try (Stream<Path> files = Files.list(dir)) {
        for (Path file : files.toList()) {
          names++;
          if (!file.getFileName().toString().startsWith("l-")) {
            assertThat(
                    PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS)))
                .as("transport of %s", file)
                .isEqualTo("rw-------");
          }
          assertDenied("cat", file.toString());
          assertDenied("stat", file.toString());
          assertDenied("rm", file.toString());
        }
      }
    }
    assertThat(names).as("an announcement and two counters files").isGreaterThanOrEqualTo(3);
    exchange.end();
  }

  /**
   * The kernel says who dials, also where transports hold nobody off: root is not the server's
   * user.
   */
  @Test
  void aDiallerOfAnotherUserIsTurnedAwayUnheard() throws Exception {
    Path run = directoryOf(NOBODY, lab.scratch(), "run-nobody");
    Path shm = directoryOf(NOBODY, lab.shmDir().getParent(), "shm-nobody");
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    for (ChildSpec side : new ChildSpec[] {exchange.serverSpec(), exchange.clientSpec()}) {
      asNobody(side).property("talaria.dir", run).property("talaria.shm.dir", shm);
    }
    exchange.run().expectTransport();
    int port = Transports.of(exchange.client()).get(0).remote().getPort();
    try (SocketChannel session = Announced.await(run, port).dial()) {
      Announced.awaitHangUp(session); // before a byte is sent, and without an answer
    }
    exchange.end();
  }

  // ---- what the other user has put there before: in a directory for all, with the sticky bit

  private Path forAll(Path parent) throws IOException, InterruptedException {
    Path dir = Files.createDirectory(parent.resolve("for-all"));
    Proc.run("chmod", "1777", dir.toString());
    return dir;
  }

  private void plainInSpiteOf(Path trap) throws Exception {
    for (String property : List.of("talaria.dir", "talaria.shm.dir")) {
      Exchange exchange = new Exchange(lab, Pair.BOTH);
      exchange.serverSpec().property(property, trap);
      exchange.clientSpec().property(property, trap);
      exchange.run();
      exchange.server().awaitLog(Reason.INSECURE_DIR.code());
      exchange.end();
    }
  }

  /** Closed to us, or open to us too. */
  static List<String> transports() {
    return Settings.fewPairs() ? List.of("700", "1777") : List.of("700", "755", "777", "1777");
  }

  @ParameterizedTest
  @MethodSource("transports")
  void aDirectoryThatTheOtherUserHasMade(String transport) throws Exception {
    Path trap = forAll(lab.scratch()).resolve("talaria-0");
    Proc.run(byNobody("mkdir", "-m", transport, trap.toString()));
    Proc.run(byNobody("touch", trap.resolve("l-1-0000000000000000").toString()));
    plainInSpiteOf(trap);
    assertThat(trap.toFile().list()).as("what stands in the trap").hasSize(1);
  }

  @Test
  void aLinkThatTheOtherUserHasMade() throws Exception {
    Path dir = forAll(lab.scratch());
    Path target = Files.createDirectory(dir.resolve("target")); // even if it leads to our own
    setMode(target, "rwx------");
    Path trap = dir.resolve("talaria-0");
    Proc.run(byNobody("ln", "-s", target.toString(), trap.toString()));
    plainInSpiteOf(trap);
    assertThat(target.toFile().list()).as("what stands behind the link").isEmpty();
  }

  @Test
  void aFileThatTheOtherUserHasMade() throws Exception {
    Path trap = forAll(lab.scratch()).resolve("talaria-0");
    Proc.run(byNobody("touch", trap.toString()));
    plainInSpiteOf(trap);
  }

  /** As in /tmp and /dev/shm: once made, the directory cannot be exchanged for another. */
  @Test
  void theOtherUserCannotTakeTheDirectoryAway() throws Exception {
    Path dir = forAll(lab.scratch()).resolve("talaria-0");
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.dir", dir);
    exchange.clientSpec().property("talaria.dir", dir);
    exchange.run().expectTransport();
    assertDenied("mv", dir.toString(), dir + "-moved");
    assertDenied("rmdir", dir.toString());
    assertDenied("chmod", "777", dir.toString());
    exchange.end();
  }

  private static void assertSaysInsecure(Child child) throws InterruptedException {
    child.awaitLog(Reason.INSECURE_DIR.code());
  }
}
