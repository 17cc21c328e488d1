// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static io.talaria.mpj.launch.Launched.run;
import static io.talaria.mpj.launch.Launched.runUntilTimeout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import io.talaria.testsupport.Seed;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The launcher: output, statuses, death, and nothing left behind. */
@Timeout(300)
class MpirunTest {
  private static final String PROGRAMS = Programs.class.getName();

  /** How often something is tried that the machine may be too busy for. */
  private static final int TRIES = 3;

  @Test
  void ranksSayHelloInWholeLines() throws Exception {
    Launched job = run("-np", "3", "-label", PROGRAMS, "hello");
    assertThat(job.err()).isEmpty();
    assertThat(job.out().lines())
        .containsExactlyInAnyOrder(
            "[0] hello from 0 of 3", "[1] hello from 1 of 3", "[2] hello from 2 of 3");
    assertThat(job.status()).isZero();
    assertThat(job.left()).isEmpty();
  }

  /** For each that is, the end of its JVM would wait up to 300 ms. */
  @Test
  void noThreadOfAFinishedRankIsInTheKernel() throws Exception {
    Launched job = run("-np", "2", PROGRAMS, "finished");
    assertThat(job.out().lines())
        .as(job.err())
        .containsExactlyInAnyOrder(
            "no thread of 0 is in the kernel", "no thread of 1 is in the kernel");
    assertThat(job.status()).isZero();
  }

  @Test
  void boundRanksStayOnTheCoresOfTheLauncher() throws Exception {
    assertThat(AllowedCores.parse(" 0-2,8,10-11\n")).containsExactly(0, 1, 2, 8, 10, 11);
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/taskset")), "no taskset (util-linux)");
    int last = AllowedCores.list().getLast();
    Launched job = Launched.startOn(last, "-np", "2", "-bind", PROGRAMS, "cores");
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out().lines())
        .containsExactlyInAnyOrder("cores of 0: [" + last + "]", "cores of 1: [" + last + "]");
  }

  @Test
  void ranksMayBeThreads() throws Exception {
    Launched job = run("-np", "3", "-dev", "sm", PROGRAMS, "hello");
    assertThat(job.out().lines())
        .containsExactlyInAnyOrder("hello from 0 of 3", "hello from 1 of 3", "hello from 2 of 3");
    assertThat(job.status()).isZero();
  }

  @Test
  void ranksThatAreThreadsCatchWhatTheirCallsThrow() throws Exception {
    Launched job = run("-np", "2", "-dev", "sm", PROGRAMS, "too-long");
    String why = " caught 15: message of 8 bytes for a receive of 4 bytes";
    assertThat(job.out().lines()).containsExactlyInAnyOrder("0" + why, "1" + why);
    assertThat(job.status()).as(job.err()).isZero();
  }

  @Tag("long")
  @Test
  void theContractIsKeptBetweenProcesses() throws Exception {
    Launched job = run("-np", "2", "-ea", "mpi.ContractMain");
    assertThat(job.out() + job.err()).isEqualTo("contract kept by shmdev\n");
    assertThat(job.status()).isZero();
    assertThat(job.left()).isEmpty();
  }

  @Test
  void theContractIsKeptByMoreRanksThanCores() throws Exception {
    Launched job = run("-np", "4", "-ea", "-Dtalaria.mpj.ring=8192", "mpi.ContractMain");
    assertThat(job.out() + job.err()).isEqualTo("contract kept by shmdev\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void theContractIsKeptOverConnections() throws Exception {
    Launched job = run("-np", "3", "-dev", "niodev", "-ea", "mpi.ContractMain");
    assertThat(job.out() + job.err()).isEqualTo("contract kept by niodev\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void theContractIsKeptOverConnectionsOfTheAgent() throws Exception {
    Path agent = Path.of(System.getProperty("talaria.test.agent", "../../dist/talaria.jar"));
    assumeTrue(Files.exists(agent), "dist/talaria.jar is not built");
    Launched job = run("-np", "2", "-dev", "nio", "-javaagent:" + agent, "-ea", "mpi.ContractMain");
    assertThat(job.out()).isEqualTo("contract kept by niodev\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void theContractIsKeptOverUcx() throws Exception {
    assumeThereIsUcx();
    Launched job = run("-np", "3", "-dev", "ucxdev", "-ea", "mpi.ContractMain");
    assertThat(job.out() + job.err()).isEqualTo("contract kept by ucxdev\n");
    assertThat(job.status()).isZero();
    assertThat(job.left()).isEmpty();
  }

  @Tag("long")
  @Test
  void theContractIsKeptOverTcpOfUcx() throws Exception {
    assumeThereIsUcx();
    Launched job =
        run("-np", "2", "-dev", "ucx", "-x", "UCX_TLS=tcp,self", "-ea", "mpi.ContractMain");
    assertThat(job.out() + job.err()).isEqualTo("contract kept by ucxdev\n");
    assertThat(job.status()).isZero();
  }

  @Test
  void ucxThatIsMissingIsNamed() throws Exception {
    Launched job =
        run(
            "-np",
            "2",
            "-dev",
            "ucx",
            "-Dtalaria.ucx.library=/no/such/libucp.so",
            PROGRAMS,
            "hello");
    assertThat(job.status()).isEqualTo(69);
    assertThat(job.err()).contains("cannot use UCX: ").contains("/no/such/libucp.so");
    assertThat(job.err().lines()).hasSize(1);
  }

  @Test
  void verbsThatAreMissingAreNamed() throws Exception {
    Launched job =
        run(
            "-np",
            "2",
            "-dev",
            "ibv",
            "-Dtalaria.verbs.library=/no/such/libibverbs.so",
            PROGRAMS,
            "hello");
    assertThat(job.status()).isEqualTo(69);
    assertThat(job.err()).contains("cannot use RDMA verbs: ").contains("/no/such/libibverbs.so");
    assertThat(job.err().lines()).hasSize(1);
  }

  private static void assumeThereIsUcx() {
    String unavailableReason = Ucx.unavailableReason().orElse(null);
    assumeTrue(unavailableReason == null, unavailableReason);
  }

  @Test
  void anExitStatusIsTheJobs() throws Exception {
    Launched job = run("-np", "2", PROGRAMS, "exit", "3");
    assertThat(job.status()).isEqualTo(3);
    assertThat(job.err()).contains("rank 1 (pid ").contains("ended with status 3");
  }

  @Test
  void aNegativeExitStatusIsNoSignal() throws Exception {
    Launched job = run("-np", "2", PROGRAMS, "exit", "-1");
    assertThat(job.status()).isEqualTo(255);
    assertThat(job.err()).contains("ended with status 255").doesNotContain("signal");
  }

  @Test
  void abortEndsTheJobWithItsCode() throws Exception {
    assertThat(run("-np", "2", PROGRAMS, "abort", "7").status()).isEqualTo(7);
    Launched job = run("-np", "2", PROGRAMS, "abort", "256");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err()).isEqualTo("talaria mpirun: rank 1 called Abort(256)\n");
  }

  @Test
  void anUncaughtExceptionEndsTheJob() throws Exception {
    Launched job = run("-np", "2", PROGRAMS, "throw");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err().split("thrown on purpose", -1)).hasSize(2);
  }

  @Test
  void returningWithoutFinalizeIsAFailure() throws Exception {
    Launched job = run("-np", "2", PROGRAMS, "return");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err()).contains("ended without MPI.Finalize");
  }

  @Test
  void aRankThatReturnsWithoutFinalizeFailsThoseThatWait() throws Exception {
    for (String device : List.of("shm", "sm")) {
      Launched job = run("-np", "2", "-dev", device, "-timeout", "60", PROGRAMS, "leave");
      assertThat(job.status()).as(device + ": " + job.err()).isEqualTo(1);
      assertThat(job.err()).contains("rank 1 ").contains("ended without MPI.Finalize");
    }
  }

  @Test
  void whatKeepsAClassFromBeingInitializedIsPrinted() throws Exception {
    Launched job = run("-np", "1", Uninitialized.class.getName());
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err())
        .contains("class " + Uninitialized.class.getName() + " cannot be run")
        .contains("NumberFormatException")
        .contains("Uninitialized.java");
  }

  @Test
  void aRankThatEndsWithoutInitIsNamed(@TempDir Path folder) throws Exception {
    Launched job =
        run(
            "-np",
            "2",
            "-init-timeout",
            "3",
            "-timeout",
            "60",
            WithoutInit.class.getName(),
            folder.resolve("begun").toString());
    assertThat(job.status()).as(job.err()).isEqualTo(1);
    assertThat(job.err())
        .containsPattern("rank 0 \\(pid \\d+\\) has not come to MPI.Init within 3 s after");
  }

  @Test
  void aThreadThatEndsWithoutInitIsNamed(@TempDir Path folder) throws Exception {
    String begun = folder.resolve("begun").toString();
    Launched job =
        run("-np", "2", "-dev", "sm", "-timeout", "60", WithoutInit.class.getName(), begun);
    assertThat(job.status()).as(job.err()).isEqualTo(1);
    assertThat(job.err()).contains("rank 0 ended without MPI.Init");
  }

  @Test
  void aDeadlockIsNamedWhenTheTimeIsOver() throws Exception {
    Launched job = runUntilTimeout(5, "-np", "2", PROGRAMS, "deadlock");
    assertThat(job.status()).isEqualTo(124);
    assertThat(job.err())
        .contains("rank 0 waits in Recv from rank 1, tag 42, communicator 0, since")
        .contains("rank 1 waits in Recv from rank 0, tag 42, communicator 0, since");
  }

  /** Two ranks that send to each other: one's thread that connects, the other's that accepts. */
  @Test
  void aClassThatThreadsOfConnectionsCannotLoadFailsTheJobAtOnce(@TempDir Path folder)
      throws Exception {
    Path proof = folder.resolve("io/talaria/nio/authentication/KeyProof.class");
    Files.createDirectories(proof.getParent());
    Files.createFile(proof);
    Launched job =
        Launched.startWithClasses(
                folder, "-np", "2", "-dev", "nio", "-timeout", "60", PROGRAMS, "gossip")
            .ended();
    assertThat(job.err())
        .contains("a thread that makes connections of rank")
        .contains("java.lang.ClassFormatError")
        .contains("device.nio.Handshake");
    assertThat(job.status()).isEqualTo(1);
  }

  @Test
  void aCollectiveThatHangsIsNamedWhenTheTimeIsOver() throws Exception {
    Launched job = runUntilTimeout(5, "-np", "2", PROGRAMS, "half-barrier");
    assertThat(job.status()).isEqualTo(124);
    assertThat(job.err())
        .contains("rank 0 waits in Recv from rank 1 of Barrier (collective call 1), communicator 0")
        .contains("rank 1 waits in Recv from rank 0, tag 42, communicator 0");
  }

  @Test
  void ranksThatDisagreeAreNamedWithCheck() throws Exception {
    Launched job = run("-np", "3", "-check", PROGRAMS, "disagree");
    assertThat(job.status()).isEqualTo(1);
    assertThat(job.err())
        .contains("ranks disagree: rank 0 calls Bcast of 4 INT, root 0, rank 1 calls Barrier");
  }

  @Test
  void aRankThatIsStoppedOnlyDelays() throws Exception {
    Launched job = Launched.start("-np", "3", PROGRAMS, "count", "20000");
    List<Long> pids = job.pids(3);
    for (long pid : pids) {
      signal("STOP", pid);
      Thread.sleep(300); // The others must wait meanwhile.
      signal("CONT", pid);
    }
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out()).contains("counted to 20000 by 3");
    assertThat(job.err()).isEmpty();
  }

  private static void signal(String name, long pid) throws Exception {
    // A rank that has ended is not there any more.
    int ignored =
        ChildProcess.command("kill", "-" + name, pid).run(Duration.ofSeconds(20)).exitStatus();
  }

  @Test
  void wrongUsageIsExplained() throws Exception {
    for (String[] words :
        List.of(
            new String[] {"-np", "0", "Main"},
            new String[] {"-np", "x", "Main"},
            new String[] {"-np", "2"},
            new String[] {"Main"},
            new String[] {"-np", "2", "-quick", "Main"},
            new String[] {"-np", "2", "-dev", "token-ring", "Main"},
            new String[] {"-np", "2", "-jar", "/no/such.jar"})) {
      Launched job = run(words);
      assertThat(job.status()).as(String.join(" ", words)).isEqualTo(2);
      assertThat(job.err().lines()).hasSize(1);
    }
    Launched missing = run("-np", "1", "NoSuchClass");
    assertThat(missing.status()).isEqualTo(2);
    assertThat(missing.err()).contains("no class NoSuchClass");
    Launched noMain = run("-np", "1", "mpi.Variant");
    assertThat(noMain.status()).isEqualTo(1);
    assertThat(noMain.err()).contains("class mpi.Variant has no method public static void main");
    Launched property = run("-np", "1", "-Dtalaria.mpj.eager=lots", PROGRAMS, "hello");
    assertThat(property.status()).isEqualTo(78);
    assertThat(property.err()).contains("talaria.mpj.eager=lots: a whole number from 0");
    Launched filter = run("-np", "1", "-Dtalaria.mpj.serial.filter=maxdepth=x", PROGRAMS, "hello");
    assertThat(filter.status()).isEqualTo(78);
    assertThat(filter.err()).contains("talaria.mpj.serial.filter=maxdepth=x: a pattern");
    Launched algorithm = run("-np", "1", "-Dtalaria.mpj.coll.bcast=magic", PROGRAMS, "hello");
    assertThat(algorithm.status()).isEqualTo(78);
    assertThat(algorithm.err()).contains("binomial");
  }

  @Test
  void aKilledRankEndsTheJob() throws Exception {
    killed(3, 42);
  }

  @Test
  void aKilledRankEndsTheJobOverUcx() throws Exception {
    assumeThereIsUcx();
    killed(3, 43, "-dev", "ucx");
  }

  @Tag("long")
  @Test
  @Timeout(3000)
  void ranksKilledAtRandomMomentsEndTheirJobs() throws Exception {
    killed(60, Seed.next());
  }

  private static void killed(int times, long seed, String... options) throws Exception {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < times; i++) {
      List<String> words = new ArrayList<>(List.of("-np", "3"));
      words.addAll(List.of(options));
      words.addAll(List.of(PROGRAMS, "busy"));
      Launched job = Launched.start(words.toArray(String[]::new));
      List<Long> pids = job.pids(3);
      Thread.sleep(random.nextInt(300));
      int victim = random.nextInt(3);
      long at = System.nanoTime();
      ProcessHandle.of(pids.get(victim)).orElseThrow().destroyForcibly();
      assertThat(job.status()).as(job.err()).isEqualTo(137);
      assertThat(System.nanoTime() - at).isLessThan(30_000_000_000L);
      assertThat(job.err()).contains("(pid " + pids.get(victim) + ") was ended by signal 9");
      for (long pid : pids) {
        assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
      }
      assertThat(job.left()).isEmpty();
    }
  }

  @Test
  void ranksEndWithTheirLauncher() throws Exception {
    for (String device : List.of("shm", "sm")) {
      Launched job = Launched.start("-np", "2", "-dev", device, PROGRAMS, "busy");
      List<Long> pids = job.pids(2);
      job.signal("KILL");
      assertThat(job.status()).isEqualTo(137);
      try {
        for (long pid : pids) {
          ProcessHandle rank = ProcessHandle.of(pid).orElse(null);
          if (rank != null) {
            assertThat(rank.onExit()).as(device).succeedsWithin(Duration.ofSeconds(60));
          }
        }
        assertThat(job.left()).as(device).isEmpty();
      } finally {
        pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
      }
    }
  }

  @Test
  void aRankThatFindsNoLauncherRemovesTheDirectory(@TempDir Path folder) throws Exception {
    Path directory = JobDirectory.create(folder.toString());
    try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      killed.bind(UnixDomainSocketAddress.of(directory.resolve(JobDirectory.CONTROL)));
    }
    ChildProcess rank =
        ChildProcess.jvm(RankMain.class, PROGRAMS, "hello")
            .options("--enable-native-access=ALL-UNNAMED")
            .environment(RankMain.RANK, 0)
            .environment(RankMain.HOSTS, "0*1")
            .environment(RankMain.CORES, 1)
            .environment(RankMain.DEVICE, "shm")
            .environment(RankMain.DIRECTORY, directory)
            .run(Duration.ofMinutes(1));
    assertThat(rank.exitStatus()).isEqualTo(1);
    assertThat(rank.errText()).contains("the launcher cannot be reached");
    assertThat(directory).doesNotExist();
  }

  /** Whether SIGINT is ignored, as in what a shell runs in the background; children inherit it. */
  private static boolean ignoresInterrupt() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("SigIgn:")) {
        return (Long.parseUnsignedLong(line.substring(7).trim(), 16) & 1L << 1) != 0;
      }
    }
    return false;
  }

  @Test
  void hooksOfRanksRunWhenASignalEndsTheLauncher() throws Exception {
    for (String name : ignoresInterrupt() ? List.of("TERM") : List.of("TERM", "INT")) {
      Launched job;
      boolean inTime;
      int tries = 0;
      do { // ranks that come late are killed
        job = Launched.start("-np", "2", PROGRAMS, "hook", "ends");
        int ignored = job.pids(2).size();
        long at = System.nanoTime();
        job.signal(name);
        assertThat(job.status()).isEqualTo(name.equals("TERM") ? 143 : 130);
        inTime = System.nanoTime() - at < HostRanks.TERM_NS;
      } while (!inTime && !ranHooks(job) && ++tries < TRIES);
      assertThat(job.out()).contains("hook of 0", "hook of 1");
      assertThat(job.err())
          .contains("ended by a signal: the ranks get SIGTERM")
          .doesNotContain("signal 9");
      assertThat(job.left()).isEmpty();
    }
  }

  private static boolean ranHooks(Launched job) {
    return job.out().contains("hook of 0") && job.out().contains("hook of 1");
  }

  @Test
  void ranksWhoseHooksHangAreKilled() throws Exception {
    Launched job = Launched.start("-np", "2", PROGRAMS, "hook", "hangs");
    List<Long> pids = job.pids(2);
    job.signal("TERM");
    assertThat(job.status()).isEqualTo(143);
    for (long pid : pids) {
      assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
    }
    assertThat(job.left()).isEmpty();
  }

  @Test
  void longLinesStayWhole() throws Exception {
    Launched job = run("-np", "3", "-label", PROGRAMS, "long-lines");
    assertThat(job.status()).as(job.err()).isZero();
    List<String> lines = job.out().lines().toList();
    assertThat(lines).hasSize(60);
    for (String line : lines) {
      int rank = line.charAt(1) - '0';
      assertThat(line.equals("[" + rank + "] " + ("" + rank).repeat(300_000))).isTrue();
    }
  }

  /** What the pipes do not hold is still in the rank's when it ends. */
  @Test
  void aSlowReaderOfTheOutputLosesNothing() throws Exception {
    Launched job =
        Launched.startWithSlowReader(4, "-np", "1", PROGRAMS, "many-lines", "100").ended();
    assertThat(job.out()).hasSize(100_000);
    assertThat(job.err()).isEqualTo("status 0\n");
    assertThat(job.left()).isEmpty();
  }

  @Test
  void aSignalEndsALauncherWhoseOutputNobodyReads() throws Exception {
    Launched job = Launched.startWithSlowReader(60, "-np", "1", PROGRAMS, "many-lines", "100");
    ProcessHandle launcher = job.launcher();
    while (!job.begun()) {
      Thread.sleep(20);
    }
    while (!job.left().isEmpty()) {
      Thread.sleep(20); // until its rank has ended, and with it the job's directory has gone
    }
    launcher.destroy();
    launcher.onExit().get(60, TimeUnit.SECONDS);
    job.end();
  }

  @Test
  void aProcessThatARankLeavesKeepsNoJobFromItsEnd() throws Exception {
    Launched job = run("-np", "2", PROGRAMS, "child");
    assertThat(job.status()).isZero();
    assertThat(job.err().lines())
        .containsExactly(
            "talaria mpirun: another process keeps the output of rank 0, rank 1 open;"
                + " what it writes now is not passed on");
    job.pids(2).forEach(pid -> ProcessHandle.of(pid).orElseThrow().destroy());
  }

  @Test
  void optionsOfTheJvmMayHaveTheirValueInTheNextWord() throws Exception {
    Launched job =
        run("-np", "1", "--add-opens", "java.base/java.nio=ALL-UNNAMED", PROGRAMS, "hello");
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out()).isEqualTo("hello from 0 of 1\n");
  }

  @Test
  void namesOfUsersMayHaveHyphensButNotBeginWithThem() throws Exception {
    List<HostSlots> hosts = new ArrayList<>();
    HostSlots.readList("-host", "ci-runner@node1:4", hosts);
    assertThat(hosts).containsExactly(new HostSlots("ci-runner@node1", 4));
    assertThatThrownBy(() -> HostSlots.readList("-host", "-runner@node1:4", hosts))
        .isInstanceOf(UsageException.class);
  }

  @Test
  void inputIsReadOnOneHostThatIsNamed() throws Exception {
    Launched job =
        Launched.startWithInput("1234", "-np", "2", "-host", "localhost:2", PROGRAMS, "input")
            .ended();
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out()).isEqualTo("read 5 bytes\n");
  }

  @Test
  void closedInputIsEmpty() throws Exception {
    Launched job = Launched.startWithoutInput("-np", "2", PROGRAMS, "input");
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out()).isEqualTo("read 0 bytes\n");
  }
}
