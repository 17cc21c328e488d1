// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.nio.Reason;
import io.talaria.nio.process.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may serve as a directory of this user alone. */
@Timeout(60)
class PrivateDirectoryTest {
  private static final int NOBODY = 65534;

  @TempDir Path temporary;

  private PrivateDirectory at(Path path) {
    return new PrivateDirectory(path, Reason.NO_SHM_DIR);
  }

  private static void assertRefused(PrivateDirectory directory, Reason reason, String text) {
    assertThat(directory.prepare()).isEqualTo(reason);
    assertThat(directory.problem()).startsWith(directory.path().toString()).contains(text);
  }

  @Test
  void itIsMadeForItsOwnerAlone() throws Exception {
    PrivateDirectory directory = at(temporary.resolve("new"));
    assertThat(directory.prepare()).isNull();
    assertThat(directory.problem()).isNull();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.path())))
        .isEqualTo("rwx------");
    assertThat(directory.prepare()).as("a second time").isNull();
  }

  /** As of /tmp: nobody is told to take it from the others. */
  @Test
  void aDirectoryThatIsForAllUsersIsRefusedWithoutTheAdviceToCloseIt() throws Exception {
    PrivateDirectory directory = at(temporary.resolve("open"));
    assertThat(directory.prepare()).isNull();
    Files.setPosixFilePermissions(directory.path(), PosixFilePermissions.fromString("rwxrwxrwx"));
    assertRefused(
        directory,
        Reason.INSECURE_DIR,
        "not rwx------; it is for all users: name a directory below it, such as "
            + directory.path().resolve("talaria"));
    assertThat(directory.problem()).doesNotContain("chmod");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxr-xr-x", "rwx--x---", "rwx-----x", "r-x------"})
  void anyOtherModeIsRefusedWithTheHint(String mode) throws Exception {
    PrivateDirectory directory = at(temporary.resolve("open"));
    assertThat(directory.prepare()).isNull();
    Files.setPosixFilePermissions(directory.path(), PosixFilePermissions.fromString(mode));
    assertRefused(
        directory,
        Reason.INSECURE_DIR,
        "has mode " + mode + ", not rwx------; run: chmod 700 " + directory.path());
    Files.setPosixFilePermissions(directory.path(), PosixFilePermissions.fromString("rwx------"));
    assertThat(directory.prepare()).as("when it is mended").isNull();
    assertThat(directory.problem()).isNull();
  }

  @Test
  void aDirectoryOfAnotherUserIsRefused() throws Exception {
    assumeThat(Host.uid()).as("needs root, to give a directory away").isZero();
    PrivateDirectory directory = at(temporary.resolve("given"));
    assertThat(directory.prepare()).isNull();
    Files.setAttribute(directory.path(), "unix:uid", NOBODY);
    assertRefused(
        directory, Reason.INSECURE_DIR, "belongs to user id 65534, this process runs as 0");
  }

  @Test
  void aLinkIsRefusedWhateverItPointsTo() throws Exception {
    PrivateDirectory real = at(temporary.resolve("real"));
    assertThat(real.prepare()).isNull();
    Path link = Files.createSymbolicLink(temporary.resolve("link"), real.path());
    assertRefused(at(link), Reason.INSECURE_DIR, "is not a directory");
    Path dangling =
        Files.createSymbolicLink(temporary.resolve("dangling"), temporary.resolve("nothing"));
    assertRefused(at(dangling), Reason.INSECURE_DIR, "is not a directory");
    assertThat(temporary.resolve("nothing")).doesNotExist();
  }

  @Test
  void aFreshOneIsPrivateFromItsBeginning() throws Exception {
    Path fresh = PrivateDirectory.createFresh(temporary, "job-");
    assertThat(fresh.getParent()).isEqualTo(temporary);
    assertThat(fresh.getFileName().toString()).startsWith("job-");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh)))
        .isEqualTo("rwx------");
    PrivateDirectory.require(fresh);
    assertThat(PrivateDirectory.createFresh(temporary, "job-")).isNotEqualTo(fresh);
    assertThatThrownBy(() -> PrivateDirectory.createFresh(temporary.resolve("missing"), "job-"))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void oneThatMustBePrivateAndIsNotIsNamed() throws Exception {
    Path open = PrivateDirectory.createFresh(temporary, "job-");
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-x---"));
    assertThatThrownBy(() -> PrivateDirectory.require(open))
        .isInstanceOf(IOException.class)
        .hasMessage(open + " has mode rwxr-x---, not rwx------; run: chmod 700 " + open);
    Path link = Files.createSymbolicLink(temporary.resolve("link"), open);
    assertThatThrownBy(() -> PrivateDirectory.require(link))
        .hasMessage(link + " is not a directory");
    assertThatThrownBy(() -> PrivateDirectory.require(temporary.resolve("missing")))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aFileIsRefused() throws Exception {
    Path file = Files.createFile(temporary.resolve("file"));
    assertRefused(at(file), Reason.INSECURE_DIR, "is not a directory");
    assertRefused(at(file.resolve("below")), Reason.NO_SHM_DIR, "cannot be used");
  }

  @Test
  void withoutAParentItsOwnReasonIsGiven() {
    Path path = temporary.resolve("missing").resolve("below");
    assertRefused(at(path), Reason.NO_SHM_DIR, "cannot be used");
    PrivateDirectory other = new PrivateDirectory(path, Reason.NO_RUNTIME_DIR);
    assertThat(other.prepare()).isEqualTo(Reason.NO_RUNTIME_DIR);
  }

  @Test
  void aPlaceWithoutModesIsRefused() {
    assertThat(at(Path.of("/proc/self/talaria")).prepare()).isEqualTo(Reason.NO_SHM_DIR);
  }

  @Test
  void nothingIsMadeOnceTheProcessExits() throws Exception {
    PrivateDirectory directory = at(temporary.resolve("closing"));
    assertThat(directory.prepare()).isNull();
    Path first = directory.path().resolve("first");
    assertThat(directory.create(() -> Files.createFile(first))).exists();
    directory.close();
    assertThat(directory.prepare()).isEqualTo(Reason.CLOSED_EARLY);
    assertThatThrownBy(() -> directory.create(() -> Files.createFile(first)))
        .isInstanceOf(IOException.class)
        .hasMessage("this process is exiting");
  }

  @Test
  void exitWaitsForWhatIsBeingMade() throws Exception {
    PrivateDirectory directory = at(temporary.resolve("racing"));
    assertThat(directory.prepare()).isNull();
    Set<Path> made = ConcurrentHashMap.newKeySet();
    CountDownLatch going = new CountDownLatch(100);
    Thread maker =
        new Thread(
            () -> {
              try {
                for (int i = 0; ; i++) {
                  Path file = directory.path().resolve(Integer.toString(i));
                  directory.create(() -> made.add(Files.createFile(file)));
                  going.countDown();
                }
              } catch (IOException e) {
                going.countDown(); // the end
              }
            });
    maker.start();
    assertThat(going.await(20, TimeUnit.SECONDS)).isTrue();
    directory.close();
    Set<Path> known = Set.copyOf(made);
    try (Stream<Path> files = Files.list(directory.path())) {
      assertThat(files).containsExactlyInAnyOrderElementsOf(known);
    }
    maker.join();
    assertThat(made).isEqualTo(known);
  }
}
