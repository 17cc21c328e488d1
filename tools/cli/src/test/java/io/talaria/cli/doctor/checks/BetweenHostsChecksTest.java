// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.cli.doctor.checks.Surroundings.HostFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says of connections between hosts, and what it prescribes. */
@Timeout(60)
class BetweenHostsChecksTest {
  private static final String SAMPLE =
      """
      #
      # Memory domain: self
      #      Transport: self
      #         Device: memory0
      #      Transport: tcp
      #         Device: lo
      #      Transport: tcp
      #         Device: eth0
      #      Transport: posix
      #         Device: memory
      """;

  @TempDir Path temp;

  private Path root;
  private Path rules;
  private Path key;

  @BeforeEach
  void makeRoot() throws IOException {
    root = Files.createDirectory(temp.resolve("root"));
    rules = Files.writeString(temp.resolve("rules"), "connect 10.0.0.0/8 *\nbind * 9092-9093\n");
    key = Files.write(temp.resolve("key"), new byte[32]);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
  }

  private Path system(String path, String content) throws IOException {
    Path file = root.resolve(path.substring(1));
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }

  private Surroundings here() {
    return here(rules, key);
  }

  private Surroundings here(Path rulesFile, Path keyFile) {
    return new Surroundings(
        root,
        temp,
        temp,
        1 << 15,
        1 << 15,
        0,
        2,
        null,
        "",
        List.of(),
        new HostFiles(rulesFile, keyFile, 10_000));
  }

  private static void assertFinding(Finding finding, Status status, String... words) {
    assertThat(finding.status()).as(finding.toString()).isEqualTo(status);
    assertThat(finding.found() + " / " + finding.hint()).contains(words);
    assertThat(finding.hint().isEmpty()).as("no hint").isEqualTo(status == Status.OK);
    assertThat(finding.isFatal()).as("shared memory does without").isFalse();
  }

  // Rules

  @Test
  void withoutRulesNothingElseIsLookedAt() {
    assertThat(BetweenHostsChecks.all(here(null, null)))
        .singleElement()
        .satisfies(finding -> assertFinding(finding, Status.OK, "none named", "--rules"));
  }

  @Test
  void rulesAreCounted() {
    assertFinding(BetweenHostsChecks.rules(here()), Status.OK, rules + ": 2");
    assertThat(BetweenHostsChecks.all(here())).hasSize(5);
  }

  @Test
  void rulesThatAreMissingOrWrongAreSaidWithTheLine() throws Exception {
    assertFinding(
        BetweenHostsChecks.rules(here(temp.resolve("no"), key)),
        Status.MISSING,
        "there is no file " + temp.resolve("no"),
        "docs/hosts.md");
    Files.writeString(rules, "# mine\n\nconnect 10.0.0.0/33 *\n");
    assertFinding(
        BetweenHostsChecks.rules(here()),
        Status.MISSING,
        rules + ", line 3: '10.0.0.0/33' must be",
        "stay on TCP");
    assertFinding(RendezvousCheck.ports(here()), Status.WARN, "Mend the rules first");
    Files.writeString(rules, "# nothing\n");
    assertFinding(BetweenHostsChecks.rules(here()), Status.WARN, "has none", "connect and bind");
  }

  @Test
  void aNameThatNobodyKnowsIsSaid() throws Exception {
    Files.writeString(rules, "connect nobody.invalid 9092\n");
    assertFinding(BetweenHostsChecks.rules(here()), Status.WARN, "nobody.invalid", "addresses");
  }

  @Test
  void filesThatMayNotBeReadAreSaid() throws Exception {
    Files.setPosixFilePermissions(rules, PosixFilePermissions.fromString("-wx------"));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("-wx------"));
    assumeFalse(Files.isReadable(rules), "this user may read everything");
    assertFinding(BetweenHostsChecks.rules(here()), Status.MISSING, "may not be read");
    assertFinding(BetweenHostsChecks.key(here()), Status.MISSING, "may not be read", "0600");
  }

  // Key

  @Test
  void aKeyIsFine() {
    assertFinding(BetweenHostsChecks.key(here()), Status.OK, "32 bytes, closed to others");
  }

  @Test
  void aKeyThatIsOfNoUseIsSaidWithTheCommand() throws Exception {
    assertFinding(
        BetweenHostsChecks.key(here(rules, null)), Status.MISSING, "none named", "/dev/urandom");
    assertFinding(
        BetweenHostsChecks.key(here(rules, temp.resolve("no"))),
        Status.MISSING,
        "there is no file",
        "/dev/urandom > " + temp.resolve("no"));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    assertFinding(
        BetweenHostsChecks.key(here()),
        Status.MISSING,
        "is open to others / Run: chmod 600 " + key);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    Files.write(key, new byte[31]);
    assertFinding(
        BetweenHostsChecks.key(here()), Status.MISSING, "31 bytes", "Run: head -c 32 /dev/urandom");
  }

  // Rendezvous

  private void listens(int port, int inode, String pid) throws IOException {
    Path table = root.resolve("proc/net/tcp6");
    String before = Files.exists(table) ? Files.readString(table) : "  sl  local_address\n";
    system(
        "/proc/net/tcp6",
        before
            + String.format(
                " 0: %1$032X:%2$04X %1$032X:0000 0A 0:0 00:0 0 0 0 %3$d 1 0%n", 0, port, inode));
    Path descriptors = Files.createDirectories(root.resolve("proc/" + pid + "/fd"));
    Files.createSymbolicLink(
        descriptors.resolve(Integer.toString(inode)), Path.of("socket:[" + inode + "]"));
  }

  @Test
  void rendezvousPortsAreSeenAtTheirServices() throws Exception {
    assertFinding(RendezvousCheck.ports(here()), Status.OK, "no service");
    listens(9092, 1, "10");
    assertFinding(RendezvousCheck.ports(here()), Status.OK, "9092 has none", "without Talaria");
    listens(19_092, 2, "10");
    assertFinding(RendezvousCheck.ports(here()), Status.OK, "9092 at 19092");
  }

  @Test
  void aRendezvousPortOfAnotherProgramIsSaid() throws Exception {
    listens(19_093, 1, "11");
    assertFinding(
        RendezvousCheck.ports(here()),
        Status.WARN,
        "19093 (for 9093, which has no listener)",
        "talaria.rendezvous.offset");
    listens(9093, 2, "10");
    assertFinding(RendezvousCheck.ports(here()), Status.WARN, "has 19093 (for 9093) /");
  }

  @Test
  void rulesForAllPortsBlameNobodyForPortsThatNobodyServes() throws Exception {
    Files.writeString(rules, "bind * *\n");
    listens(22, 1, "10");
    assertFinding(RendezvousCheck.ports(here()), Status.OK, "22 has none");
  }

  // The system, and UCX

  @Test
  void lockedMemoryIsToBeUnlimited() throws Exception {
    system("/proc/self/limits", "Max locked memory         unlimited            unlimited  bytes");
    assertFinding(HostChecks.lockedMemory(here()), Status.OK, "unlimited");
    system("/proc/self/limits", "Max locked memory         8388608              8388608    bytes");
    assertFinding(
        HostChecks.lockedMemory(here()), Status.WARN, "8388608 bytes", "ulimit -l unlimited");
  }

  @Test
  void ucxIsMissedMoreWhenRulesWantIt() {
    assertFinding(
        NetworkChecks.ucx(here()), Status.MISSING, "the rules for other hosts", "libucx0");
  }

  @Test
  void whatUcxHasForOtherHostsIsListed() throws Exception {
    assertThat(UcxInfo.transports(here())).isNull();
    assertFinding(BetweenHostsChecks.transports(null), Status.WARN, "apt install ucx-utils");

    Path program = system("/usr/bin/ucx_info", "#!/bin/sh\ncat <<END\n" + SAMPLE + "END\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    assertThat(UcxInfo.transports(here())).isEqualTo(Map.of("tcp", List.of("eth0")));
    assertFinding(
        BetweenHostsChecks.transports(UcxInfo.transports(here())),
        Status.WARN,
        "to other hosts: tcp on [eth0]; connections stay on TCP (ucx-tcp-only)",
        "ucx_info -d");

    String more = SAMPLE + "#      Transport: rc_mlx5\n#         Device: mlx5_0:1\n";
    assertFinding(
        BetweenHostsChecks.transports(UcxInfo.parse(more.lines().toList())),
        Status.OK,
        "to other hosts: rc_mlx5 on [mlx5_0:1], tcp on [eth0]");
  }
}
