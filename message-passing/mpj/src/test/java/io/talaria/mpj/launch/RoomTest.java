// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A file system too small for the shared files of a job of four: 12 rings of 65,536 bytes and four
 * pages want 832 KiB, and with the pages' file, the directory and the control socket 15 inodes. Its
 * root has one.
 */
@Timeout(300)
class RoomTest {
  private static final String PROGRAMS = Programs.class.getName();

  @BeforeAll
  static void fileSystemsCanBeMounted() throws Exception {
    String unavailableReason;
    try {
      unavailableReason = Launched.noMounts();
    } catch (java.io.IOException e) {
      unavailableReason = e.getMessage();
    }
    assumeTrue(unavailableReason == null, unavailableReason);
  }

  private static Launched run(String size, String... words) throws Exception {
    return Launched.startWithRoom(size, words).ended();
  }

  @Test
  void aJobThatDoesNotFitIsRefusedAtItsStart() throws Exception {
    Launched job = run("200k", "-np", "4", "-dev", "shm", PROGRAMS, "hello");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.out()).isEmpty();
    assertThat(job.err().lines()).hasSize(1);
    assertThat(job.err())
        .contains("the shared files of 4 ranks may take 0.8 MiB, and /dev/shm/talaria-test-")
        .contains("has room for 0.2: start fewer ranks a host, or smaller rings")
        .contains("(talaria.mpj.ring=65536)")
        .contains("(talaria.mpj.dir)");
  }

  @Test
  void smallerRingsOrFewerRanksHintIt() throws Exception {
    Launched rings =
        run("200k", "-np", "4", "-dev", "shm", "-Dtalaria.mpj.ring=4096", PROGRAMS, "gossip");
    assertThat(rings.out() + rings.err()).isEqualTo("all of 4 have spoken\n");
    assertThat(rings.status()).isZero();
    Launched fewer = run("200k", "-np", "2", "-dev", "shm", PROGRAMS, "gossip");
    assertThat(fewer.out() + fewer.err()).isEqualTo("all of 2 have spoken\n");
    assertThat(fewer.status()).isZero();
  }

  @Test
  void connectionsDoIfNobodyHasAskedForRings() throws Exception {
    Launched job = run("200k", "-np", "4", PROGRAMS, "gossip");
    assertThat(job.err()).contains("may take 0.8 MiB").contains("as by -dev nio");
    assertThat(job.err().lines()).hasSize(1);
    assertThat(job.out()).isEqualTo("all of 4 have spoken\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void tooFewInodesAreNamed() throws Exception {
    Launched job = run("2m,nr_inodes=15", "-np", "4", "-dev", "shm", PROGRAMS, "hello");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.out()).isEmpty();
    assertThat(job.err().lines()).hasSize(1);
    assertThat(job.err())
        .contains("4 ranks may need 15 shared files, and /dev/shm/talaria-test-")
        .contains("has inodes for 14 (df -i /dev/shm/talaria-test-")
        .contains("start fewer ranks a host, or have the files elsewhere (talaria.mpj.dir)")
        .doesNotContain("MiB");
  }

  @Test
  void justEnoughInodesDo() throws Exception {
    Launched job = run("2m,nr_inodes=16", "-np", "4", "-dev", "shm", PROGRAMS, "gossip");
    assertThat(job.out() + job.err()).isEqualTo("all of 4 have spoken\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void connectionsDoWithFewInodesIfNobodyHasAskedForRings() throws Exception {
    Launched job = run("2m,nr_inodes=4", "-np", "4", PROGRAMS, "gossip");
    assertThat(job.err()).contains("has inodes for 3 ").contains("as by -dev nio");
    assertThat(job.err().lines()).hasSize(1);
    assertThat(job.out()).isEqualTo("all of 4 have spoken\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void noInodeForTheDirectoryIsNamedToo() throws Exception {
    Launched job = run("2m,nr_inodes=1", "-np", "4", PROGRAMS, "hello");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err()).contains("4 ranks may need 3 shared files").contains("inodes for 0 ");
  }

  /** Its file system says that it has no bytes at all. */
  @Test
  void aSizeWithoutLimitIsRoom() throws Exception {
    Launched job = run("0", "-np", "4", "-dev", "shm", PROGRAMS, "gossip");
    assertThat(job.out() + job.err()).isEqualTo("all of 4 have spoken\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void pagesThatDoNotFitAreRefusedToo() throws Exception {
    Launched job = run("8k", "-np", "4", "-dev", "nio", PROGRAMS, "hello");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err()).contains("has room for 0.0: start fewer ranks a host, or have");
  }
}
