// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static io.talaria.mpj.launch.Launched.run;
import static io.talaria.mpj.launch.Launched.runUntilTimeout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs on several hosts, whose agents another command than ssh starts. The hosts are this one under
 * several names, or network namespaces.
 */
@Timeout(300)
class HostsTest {
  private static final String PROGRAMS = Programs.class.getName();

  /** Hosts that are all here reach each other on loopback. */
  private static final String LOOPBACK = "-Dtalaria.mpj.network=127.0.0.0/8";

  @TempDir Path scratch;

  private String shell(String name, String... lines) throws IOException {
    Path script = scratch.resolve(name);
    Files.writeString(script, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script.toString();
  }

  private String here() throws IOException {
    return shell("here", "exec sh -c \"$2\"");
  }

  @Test
  void ranksOfTwoHostsSpeakWithEachOther() throws Exception {
    Launched job = ofTwoHosts(PROGRAMS, "gossip");
    assertThat(job.out() + job.err()).isEqualTo("all of 4 have spoken\n");
    assertThat(job.status()).isZero();
    assertThat(job.left()).isEmpty();
  }

  /** As {@link #twoNetworkNamespacesAreTwoHosts}, on loopback. */
  @Tag("long")
  @Test
  void ranksOfTwoHostsKeepTheContract() throws Exception {
    Launched job = ofTwoHosts("-ea", "mpi.ContractMain");
    assertThat(job.out() + job.err())
        .isEqualTo("contract kept by auto: shmdev inside a host, niodev between hosts\n");
    assertThat(job.status()).isZero();
    assertThat(job.left()).isEmpty();
  }

  private Launched ofTwoHosts(String... words) throws Exception {
    String[] hosts = {"-np", "4", "-host", "one:2,two:2", "-rsh", here(), LOOPBACK};
    return run(with(hosts, words));
  }

  @Test
  void ucxMayBeBetweenTheHosts() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), Ucx.unavailableReason().orElse(""));
    Launched job =
        run(
            "-np",
            "4",
            "-host",
            "one:2,two:2",
            "-rsh",
            here(),
            "-Dtalaria.mpj.between=ucx",
            "-ea",
            "mpi.ContractMain");
    assertThat(job.out() + job.err())
        .isEqualTo("contract kept by auto: shmdev inside a host, ucxdev between hosts\n");
    assertThat(job.status()).isZero();
    assertThat(job.left()).isEmpty();
  }

  @Test
  void aHostfileOrdersTheRanks() throws Exception {
    Path file = scratch.resolve("hosts");
    Files.writeString(file, "# two hosts\none slots=1\n\ntwo:2 # the larger\n");
    Launched job =
        run(
            "-np",
            "3",
            "-hostfile",
            file.toString(),
            "-rsh",
            here(),
            LOOPBACK,
            "-label",
            "-dev",
            "nio",
            PROGRAMS,
            "hello");
    assertThat(job.err()).isEmpty();
    assertThat(job.out().lines())
        .containsExactlyInAnyOrder(
            "[0] hello from 0 of 3", "[1] hello from 1 of 3", "[2] hello from 2 of 3");
    assertThat(job.status()).isZero();
  }

  /** For longer than a launcher may be silent. */
  @Tag("long")
  @Test
  void aSlowReaderOfTheOutputLosesNothingOfAnotherHost() throws Exception {
    String[] words = {"-np", "1", "-host", "one", "-rsh", here(), PROGRAMS, "many-lines", "170"};
    Launched job = Launched.startWithSlowReader(15, words).ended();
    assertThat(job.out()).hasSize(170_000);
    assertThat(job.err()).isEqualTo("status 0\n");
    assertThat(job.left()).isEmpty();
  }

  @Test
  void statusAbortAndExceptionsComeFromOtherHosts() throws Exception {
    String[] hosts = {"-np", "2", "-host", "one,two", "-rsh", here(), LOOPBACK};
    Launched exit = run(with(hosts, PROGRAMS, "exit", "3"));
    assertThat(exit.status()).isEqualTo(3);
    assertThat(exit.err()).contains("rank 1 (pid ").contains(" on two) ended with status 3");
    assertThat(run(with(hosts, PROGRAMS, "abort", "7")).status()).isEqualTo(7);
    Launched thrown = run(with(hosts, PROGRAMS, "throw"));
    assertThat(thrown.status()).isEqualTo(1);
    assertThat(thrown.err().split("thrown on purpose", -1)).hasSize(2);
  }

  private static String[] with(String[] first, String... more) {
    String[] all = Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, all, first.length, more.length);
    return all;
  }

  @Test
  void aDeadlockAcrossHostsIsNamed() throws Exception {
    Launched job =
        runUntilTimeout(
            8, "-np", "2", "-host", "one,two", "-rsh", here(), LOOPBACK, PROGRAMS, "deadlock");
    assertThat(job.status()).isEqualTo(124);
    assertThat(job.err())
        .contains("rank 0 on one waits in Recv from rank 1, tag 42, communicator 0, since")
        .contains("rank 1 on two waits in Recv from rank 0, tag 42, communicator 0, since");
  }

  @Test
  void aKilledRankEndsTheJobOnAllHosts() throws Exception {
    Launched job;
    String says;
    boolean inTime;
    int tries = 0;
    do { // ranks that are left for longer print what their calls throw
      job =
          Launched.start(
              "-np", "3", "-host", "one:2,two", "-rsh", here(), LOOPBACK, PROGRAMS, "busy");
      List<Long> pids = job.pids(3);
      says = "talaria mpirun: rank 2 (pid " + pids.get(2) + " on two) was ended by signal 9\n";
      long at = System.nanoTime();
      ProcessHandle.of(pids.get(2)).orElseThrow().destroyForcibly();
      assertThat(job.status()).as(job.err()).isEqualTo(137);
      inTime = System.nanoTime() - at < Opening.GRACE_NS;
      ended(pids);
      assertThat(job.left()).isEmpty();
    } while (!inTime && !job.err().equals(says) && ++tries < 3);
    assertThat(job.err()).isEqualTo(says);
  }

  @Test
  void nobodyOutlivesTheLauncher() throws Exception {
    Launched job =
        Launched.start("-np", "2", "-host", "one,two", "-rsh", here(), LOOPBACK, PROGRAMS, "busy");
    List<Long> pids = job.pids(2);
    job.signal("KILL");
    assertThat(job.status()).isEqualTo(137);
    ended(pids);
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!job.left().isEmpty() && System.nanoTime() < until) {
      Thread.sleep(20);
    }
    assertThat(job.left()).isEmpty();
  }

  private static void ended(List<Long> pids) throws Exception {
    for (long pid : pids) {
      var process = ProcessHandle.of(pid);
      if (process.isPresent()) {
        process.get().onExit().get(60, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void hostsThatCannotBeUsedAreNamed() throws Exception {
    String fails = shell("fails", "echo \"$1: no such host, says this test\" >&2", "exit 255");
    Launched unreachable = run("-np", "2", "-host", "one,two", "-rsh", fails, PROGRAMS, "hello");
    assertThat(unreachable.status()).isEqualTo(1);
    assertThat(unreachable.err())
        .contains("is lost: no agent answers")
        .contains("ended with status 255")
        .contains("no such host, says this test");

    String old = shell("old", "echo Welcome to $1", "echo talaria-mpj-agent 2 17", "sleep 1");
    Launched java = run("-np", "1", "-host", "one", "-rsh", old, PROGRAMS, "hello");
    assertThat(java.status()).isEqualTo(1);
    assertThat(java.err()).contains("host one is lost: it has Java 17, this host");

    String newer = shell("newer", "echo talaria-mpj-agent 3 25", "sleep 1");
    Launched version = run("-np", "1", "-host", "one", "-rsh", newer, PROGRAMS, "hello");
    assertThat(version.status()).isEqualTo(1);
    assertThat(version.err()).contains("its agent speaks version 3, this launcher 2");

    Launched none = run("-np", "1", "-host", "one", "-rsh", "/no/such/rsh", PROGRAMS, "hello");
    assertThat(none.status()).isEqualTo(1);
    assertThat(none.err()).contains("host one cannot be reached").contains("/no/such/rsh");
  }

  @Test
  void aRankThatNeverComesToInitIsNamed() throws Exception {
    Launched job =
        run(
            "-np",
            "2",
            "-host",
            "one,two",
            "-rsh",
            here(),
            LOOPBACK,
            "-init-timeout",
            "6",
            Late.class.getName(),
            scratch.resolve("late").toString());
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err())
        .contains("on two) has not come to MPI.Init within 6 s after the first")
        .contains("rank 1 on two is not in MPI yet; it said last: I am late");
  }

  /** Rank 1 is killed, and then one after the other until two are left. */
  @Test
  void ranksOfSeveralHostsContinueAfterOthersHaveFailed() throws Exception {
    for (String[] program : new String[][] {{"one", "halt"}, {"storm", "6"}}) {
      Launched job =
          run(
              "-np",
              "4",
              "-host",
              "one:2,two:2",
              "-rsh",
              here(),
              LOOPBACK,
              "-on-failure",
              "notify",
              "-timeout",
              "90",
              Survive.class.getName(),
              program[0],
              program[1]);
      assertThat(job.status()).as(job.out() + job.err()).isZero();
      String said = program[0].equals("one") ? "continued" : "is left";
      assertThat(job.out().lines().filter(line -> line.contains(said)))
          .hasSize(program[0].equals("one") ? 3 : 2);
    }
  }

  @Test
  void wrongHostsAreExplained() throws Exception {
    Path bad = scratch.resolve("bad");
    Files.writeString(bad, "one slots=2\ntwo slots=many\n");
    Path empty = scratch.resolve("empty");
    Files.writeString(empty, "# nothing\n");
    wrong("3 ranks for 2 slots", "-np", "3", "-host", "one,two", PROGRAMS, "hello");
    wrong("line 2: a host such as", "-np", "2", "-hostfile", bad.toString(), PROGRAMS, "hello");
    wrong("names no host", "-np", "2", "-hostfile", empty.toString(), PROGRAMS, "hello");
    wrong("cannot be read", "-np", "2", "-hostfile", "/no/such/file", PROGRAMS, "hello");
    wrong("needs hosts such as", "-np", "2", "-host", "one,-oProxyCommand=x", PROGRAMS, "hello");
    wrong("needs hosts such as", "-np", "2", "-host", "one:0", PROGRAMS, "hello");
    wrong("is for one host", "-np", "2", "-dev", "shm", "-host", "one,two", PROGRAMS, "hello");
    wrong("did you mean -hostfile?", "-np", "2", "-hostfle", "x", PROGRAMS, "hello");
    wrong("there is no class NoSuchClass", "-np", "2", "NoSuchClass");
  }

  private static void wrong(String says, String... words) throws Exception {
    Launched job = run(words);
    assertThat(job.err()).contains(says);
    assertThat(job.err().lines()).hasSize(1);
    assertThat(job.status()).isEqualTo(2);
  }

  // Two network namespaces, joined by a pair of interfaces that nobody else sees.

  private static String command(String... words) throws Exception {
    ChildProcess child = ChildProcess.command((Object[]) words).run(Duration.ofMinutes(1));
    if (child.exitStatus() != 0) {
      throw new IOException(child.toString());
    }
    return child.output();
  }

  /** The kernel finds out a moment later that there is a carrier. */
  private static void awaitUp(String namespace, String device) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!command("ip", "-n", namespace, "link", "show", device).contains("state UP")
        && System.nanoTime() < until) {
      Thread.sleep(20);
    }
  }

  @Test
  void twoNetworkNamespacesAreTwoHosts() throws Exception {
    inTwoNamespaces(
        (hosts, rsh) -> {
          keptBy("auto", hosts, rsh);
        });
  }

  @Tag("long")
  @Test
  void twoNetworkNamespacesAreTwoHostsForOtherDevices() throws Exception {
    inTwoNamespaces(
        (hosts, rsh) -> {
          keptBy("nio", hosts, rsh);
          if (Ucx.unavailableReason().isEmpty()) {
            String[] ucx = {"-np", "4", "-host", hosts, "-rsh", rsh, "-dev", "ucx", "-ea"};
            // UCX takes the two for one host, and uses shared memory if it may.
            String[] tcp = {"-x", "UCX_TLS=tcp,self", "-x", "UCX_NET_DEVICES=mpj0"};
            for (String[] options : new String[][] {tcp, {}}) {
              Launched job = run(with(with(ucx, options), "mpi.ContractMain"));
              assertThat(job.out() + job.err()).isEqualTo("contract kept by ucxdev\n");
              assertThat(job.status()).isZero();
            }
          }
        });
  }

  private static void keptBy(String device, String hosts, String rsh) throws Exception {
    Launched job =
        run("-np", "4", "-host", hosts, "-rsh", rsh, "-dev", device, "-ea", "mpi.ContractMain");
    assertThat(job.out() + job.err()).startsWith("contract kept by " + device);
    assertThat(job.status()).isZero();
  }

  /** What is done on two hosts, by a command that starts agents there. */
  @FunctionalInterface
  private interface OnHosts {
    void run(String hosts, String rsh) throws Exception;
  }

  private void inTwoNamespaces(OnHosts what) throws Exception {
    String one = "mpj1-" + ProcessHandle.current().pid();
    String two = "mpj2-" + ProcessHandle.current().pid();
    try {
      try {
        command("ip", "netns", "add", one);
        command("ip", "netns", "add", two);
        command(
            "ip", "-n", one, "link", "add", "mpj0", "type", "veth", "peer", "name", "mpj0", "netns",
            two);
      } catch (IOException e) {
        abort("no network namespaces can be made: " + e.getMessage());
      }
      command("ip", "-n", one, "address", "add", "10.99.0.1/24", "dev", "mpj0");
      command("ip", "-n", two, "address", "add", "10.99.0.2/24", "dev", "mpj0");
      command("ip", "-n", one, "link", "set", "mpj0", "up");
      command("ip", "-n", two, "link", "set", "mpj0", "up");
      command("ip", "-n", one, "link", "set", "lo", "up");
      command("ip", "-n", two, "link", "set", "lo", "up");
      awaitUp(one, "mpj0");
      awaitUp(two, "mpj0");
      String rsh = shell("netns", "exec ip netns exec \"$1\" sh -c \"$2\"");
      what.run(one + ":2," + two + ":2", rsh);
    } finally {
      for (String each : List.of(one, two)) {
        ChildProcess unused =
            ChildProcess.command("ip", "netns", "delete", each).run(Duration.ofMinutes(1));
      }
    }
  }
}
