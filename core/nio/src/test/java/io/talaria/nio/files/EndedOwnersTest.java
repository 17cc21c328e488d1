// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files of processes of which no process id tells anything: their locks do. */
@Timeout(120)
class EndedOwnersTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long OTHER_NAMESPACE = 1L << 32;

  @TempDir Path dir;

  private ChildProcess holder;

  @AfterEach
  void end() {
    if (holder != null) {
      holder.close();
    }
  }

  private List<Path> locks() throws IOException {
    try (var files = Files.newDirectoryStream(dir, OwnerLock.PREFIX + "*")) {
      return java.util.stream.StreamSupport.stream(files.spliterator(), false).toList();
    }
  }

  /** Another process holds its lock; returns the number of that, as of another namespace. */
  private long hold() throws Exception {
    holder = ChildProcess.jvm(LockHolder.class, dir).start();
    holder.awaitLine("holds", LIMIT);
    Path lock = locks().get(0);
    long id = ProcessFileName.id(lock.getFileName().toString()) ^ OTHER_NAMESPACE;
    Files.move(lock, lock(id));
    return id;
  }

  private Path lock(long id) {
    return dir.resolve(ProcessFileName.of(OwnerLock.PREFIX, id));
  }

  private Path file(long id) throws IOException {
    return Files.createFile(dir.resolve(ProcessFileName.of('r', id)));
  }

  private void sweep() {
    ProcessFileName.sweep(dir, 'r');
    EndedOwners.sweep(dir);
  }

  @Test
  void filesOfAnotherNamespaceStayWhileTheirProcessLives() throws Exception {
    long id = hold();
    Path file = file(id + 1);
    sweep();
    assertThat(file).exists();
    assertThat(lock(id)).exists();
    assertThat(EndedOwners.in(dir).lives(id + 1)).isTrue();
    holder.signal("STOP"); // one that stands still lives
    sweep();
    assertThat(file).exists();
    holder.signal("CONT");
  }

  @Test
  void theyGoOnceItWasKilled() throws Exception {
    long id = hold();
    Path file = file(id + 1);
    Path announcement = Files.createFile(dir.resolve("l-80-" + ProcessFileName.digits(id + 2)));
    holder.kill();
    holder.awaitEnd(LIMIT);
    sweep();
    assertThat(file).doesNotExist();
    assertThat(lock(id)).as("it is still needed").exists();
    ProcessFileName.sweep(dir, 'l');
    assertThat(announcement).doesNotExist();
    EndedOwners.sweep(dir);
    assertThat(lock(id)).doesNotExist();
  }

  @Test
  void whatAnotherProcessOfTheSameIdMayHaveMadeStays() throws Exception {
    long id = hold();
    Path before = file(id - 1);
    Path farBehind = file(id + (1 << 20));
    Path elsewhere = file((id + 1) ^ (OTHER_NAMESPACE << 1));
    holder.kill();
    holder.awaitEnd(LIMIT);
    sweep();
    assertThat(List.of(before, farBehind, elsewhere)).allMatch(Files::exists);
  }

  @Test
  void aProcessOfAnotherMachineIsNotJudged() throws Exception {
    long id = hold();
    Path file = file(id + 1);
    holder.kill();
    holder.awaitEnd(LIMIT);
    byte[] text = Files.readAllBytes(lock(id));
    text[0]++;
    Files.write(lock(id), text);
    sweep();
    assertThat(file).exists();
    assertThat(lock(id)).exists();
  }

  /** By its 10 bits one namespace looks like another. */
  @Test
  void aLiveProcessIsNotTakenForADeadOneOfThisNamespace() throws Exception {
    long id = hold() ^ OTHER_NAMESPACE;
    Files.move(lock(id ^ OTHER_NAMESPACE), lock(id));
    long dead = ChildProcess.command("true").run(LIMIT).pid();
    long like = dead << 42 | (id & ((1L << 42) - 1));
    Files.move(lock(id), lock(like));
    Path file = file(like + 1);
    sweep();
    assertThat(file).exists();
  }

  @Test
  void aLockThatWasNeverFinishedGoes() throws Exception {
    long id = ProcessFileName.nextId() ^ OTHER_NAMESPACE;
    Files.createFile(lock(id));
    sweep();
    assertThat(lock(id)).doesNotExist();
  }

  @Test
  void aDirectoryHasItsLockFromItsFirstUseToItsRelease() throws Exception {
    Path run = dir.resolve("run");
    PrivateDirectory shared = new PrivateDirectory(run, Reason.NO_RUNTIME_DIR, true);
    assertThat(shared.prepare()).isNull();
    assertThat(shared.prepare()).isNull();
    assertThat(files(run)).hasSize(1);
    assertThat(files(run).get(0).getFileName().toString()).matches("o[0-9a-f]{16}");
    EndedOwners.sweep(run);
    assertThat(files(run)).as("this process's own").hasSize(1);
    shared.close();
    shared.release();
    assertThat(files(run)).isEmpty();
    assertThat(shared.prepare()).isEqualTo(Reason.CLOSED_EARLY);
    assertThat(files(run)).isEmpty();
  }

  @Test
  void aDirectoryThatIsNotSharedHasNone() throws Exception {
    Path run =
        Files.createDirectory(
            dir.resolve("own"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    assertThat(new PrivateDirectory(run, Reason.NO_RUNTIME_DIR).prepare()).isNull();
    assertThat(files(run)).isEmpty();
  }

  private static List<Path> files(Path of) throws IOException {
    try (var files = Files.list(of)) {
      return files.toList();
    }
  }
}
