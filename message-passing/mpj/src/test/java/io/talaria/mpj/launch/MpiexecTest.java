// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that MPICH's mpiexec starts; skipped where it is not installed (package mpich). */
@Timeout(300)
class MpiexecTest {
  private static final Path HYDRA = Path.of("/usr/bin/mpiexec.hydra");
  private static final String PROGRAMS = Programs.class.getName();

  @TempDir Path scratch;

  private Path shared;

  @BeforeEach
  void mpiexecIsThere() throws IOException {
    assumeTrue(Files.isExecutable(HYDRA), "no mpiexec.hydra: install mpich");
    shared = Files.createDirectory(scratch.resolve("shared"));
  }

  private ChildProcess run(List<String> options, String... words) throws Exception {
    List<Object> command = new ArrayList<>(List.of(HYDRA));
    command.addAll(options);
    command.add(ChildProcess.jdkProgram("java"));
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "-ea",
            "-Dtalaria.mpj.dir=" + shared,
            "-cp",
            System.getProperty("java.class.path")));
    command.addAll(command.indexOf("-cp"), Launched.ofRanks());
    command.addAll(List.of(words));
    return ChildProcess.command(command.toArray())
        .input(Path.of("/dev/null"))
        .oneOutput()
        .run(Duration.ofSeconds(200));
  }

  private void nothingIsLeft() {
    assertThat(shared).isEmptyDirectory();
  }

  @Test
  void theContractIsKeptOnRings() throws Exception {
    ChildProcess ended = run(List.of("-np", "3"), "mpi.ContractMain");
    assertThat(ended.output()).isEqualTo("contract kept by shmdev\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  /** On every device, without the whole contract, which does not depend on who starts the ranks. */
  @ParameterizedTest
  @ValueSource(strings = {"nio", "ucx"})
  void ranksSpeakOn(String device) throws Exception {
    if (device.equals("ucx")) {
      assumeThereIsUcx();
    }
    ChildProcess ended =
        run(List.of("-np", "3"), "-Dtalaria.mpj.device=" + device, PROGRAMS, "gossip");
    assertThat(ended.output()).isEqualTo("all of 3 have spoken\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  private static void assumeThereIsUcx() {
    assumeTrue(Ucx.unavailableReason().isEmpty(), Ucx.unavailableReason().orElse(""));
  }

  @Tag("long")
  @Test
  void theContractIsKeptOverConnections() throws Exception {
    ChildProcess ended = run(List.of("-np", "2"), "-Dtalaria.mpj.device=nio", "mpi.ContractMain");
    assertThat(ended.output()).isEqualTo("contract kept by niodev\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Tag("long")
  @Test
  void theContractIsKeptOverUcx() throws Exception {
    assumeThereIsUcx();
    ChildProcess ended = run(List.of("-np", "2"), "-Dtalaria.mpj.device=ucx", "mpi.ContractMain");
    assertThat(ended.output()).isEqualTo("contract kept by ucxdev\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Test
  void theLauncherMayListen() throws Exception {
    ChildProcess ended = run(List.of("-pmi-port", "-np", "3"), PROGRAMS, "gossip");
    assertThat(ended.output()).isEqualTo("all of 3 have spoken\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  /** It speaks PMI-2 to a launcher that begins with it, as we do where there is a job's name. */
  @Test
  void pmi2IsSpokenWhereTheJobHasAName() throws Exception {
    ChildProcess ended = run(List.of("-genv", "PMI_JOBID", "77", "-np", "3"), PROGRAMS, "gossip");
    assertThat(ended.output()).isEqualTo("all of 3 have spoken\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  /** A rank that is done keeps what the others need; of PMI-2 a fence does not wait for them. */
  @ParameterizedTest
  @ValueSource(strings = {"PMI_JOBID", "NOT_PMI_JOBID"})
  void whoIsDoneWaitsForTheOthers(String name) throws Exception {
    ChildProcess ended = run(List.of("-genv", name, "77", "-np", "3"), PROGRAMS, "late-pair");
    assertThat(ended.output()).isEqualTo("the last to speak said 42\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Tag("long")
  @Test
  void theContractIsKeptByPmi2() throws Exception {
    ChildProcess ended = run(List.of("-genv", "PMI_JOBID", "77", "-np", "3"), "mpi.ContractMain");
    assertThat(ended.output()).isEqualTo("contract kept by shmdev\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Test
  void connectionsFindEachOtherByPmi2() throws Exception {
    ChildProcess ended =
        run(
            List.of("-genv", "PMI_JOBID", "77", "-np", "3"),
            "-Dtalaria.mpj.device=nio",
            PROGRAMS,
            "gossip");
    assertThat(ended.output()).isEqualTo("all of 3 have spoken\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Test
  void oneRankAlone() throws Exception {
    ChildProcess ended = run(List.of("-np", "1"), PROGRAMS, "hello");
    assertThat(ended.output()).isEqualTo("hello from 0 of 1\n");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Test
  void abortEndsTheJobWithItsStatus() throws Exception {
    ChildProcess ended = run(List.of("-np", "3"), PROGRAMS, "abort", "7");
    assertThat(ended.exitStatus()).isEqualTo(7);
    assertThat(ended.output()).contains("rank 1 called Abort(7)");
  }

  @Test
  void aRankThatFailsEndsTheJob() throws Exception {
    ChildProcess ended = run(List.of("-np", "3"), PROGRAMS, "throw");
    assertThat(ended.exitStatus()).isNotZero();
    assertThat(ended.output().split("thrown on purpose", -1)).hasSize(2);
    nothingIsLeft();
  }

  @Test
  void whatKilledJobsHaveLeftIsSwept() throws Exception {
    Path left = JobDirectory.create(shared.toString());
    JobDirectory.own(left);
    JobDirectory.sweep(shared.toString());
    assertThat(left).isDirectory();
    String mine = Files.readString(left.resolve("owner"));
    Files.writeString(left.resolve("owner"), mine.replaceFirst(" [0-9]+ ", " 1 "));
    ChildProcess ended = run(List.of("-np", "2"), PROGRAMS, "gossip");
    assertThat(ended.exitStatus()).isZero();
    nothingIsLeft();
  }

  @Test
  void aFolderThatIsNotThereIsNamed() throws Exception {
    ChildProcess ended =
        run(List.of("-np", "2"), "-Dtalaria.mpj.dir=/no/such/folder", PROGRAMS, "hello");
    assertThat(ended.exitStatus()).isNotZero();
    assertThat(ended.output())
        .contains("rank 0 cannot join the job: talaria.mpj.dir=/no/such/folder");
  }
}
