// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that MPICH's mpiexec starts; skipped where it is not installed (package mpich). */
@Timeout(300)
class MpiexecTest {
  private static final Path HYDRA = Path.of("/usr/bin/mpiexec.hydra");
  private static final String PROGRAMS = Programs.class.getName();

  @TempDir Path scratch;

  private Path shared;

  private record Ended(int status, String output) {}

  @BeforeEach
  void mpiexecIsThere() throws IOException {
    assumeTrue(Files.isExecutable(HYDRA), "no mpiexec.hydra: install mpich");
    shared = Files.createDirectory(scratch.resolve("shared"));
  }

  private Ended run(List<String> options, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(HYDRA.toString()));
    command.addAll(options);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "-ea",
            "-Dtalaria.mpj.dir=" + shared,
            "-cp",
            System.getProperty("java.class.path")));
    command.addAll(List.of(words));
    Path output = scratch.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(output.toFile())
            .start();
    if (!process.waitFor(200, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("mpiexec hangs; it said:\n" + Files.readString(output));
    }
    return new Ended(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
  }

  private void nothingIsLeft() {
    assertThat(shared).isEmptyDirectory();
  }

  @Test
  void theContractIsKeptOnRings() throws Exception {
    Ended ended = run(List.of("-np", "3"), "mpi.ContractMain");
    assertThat(ended.output).isEqualTo("contract kept by shmdev\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void theContractIsKeptOverConnections() throws Exception {
    Ended ended = run(List.of("-np", "2"), "-Dtalaria.mpj.device=nio", "mpi.ContractMain");
    assertThat(ended.output).isEqualTo("contract kept by niodev\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void theContractIsKeptOverUcx() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), Ucx.unavailableReason().orElse(""));
    Ended ended = run(List.of("-np", "2"), "-Dtalaria.mpj.device=ucx", "mpi.ContractMain");
    assertThat(ended.output).isEqualTo("contract kept by ucxdev\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void theLauncherMayListen() throws Exception {
    Ended ended = run(List.of("-pmi-port", "-np", "3"), PROGRAMS, "gossip");
    assertThat(ended.output).isEqualTo("all of 3 have spoken\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  /** It speaks PMI-2 to a launcher that begins with it, as we do where there is a job's name. */
  @Test
  void pmi2IsSpokenWhereTheJobHasAName() throws Exception {
    Ended ended = run(List.of("-genv", "PMI_JOBID", "77", "-np", "3"), "mpi.ContractMain");
    assertThat(ended.output).isEqualTo("contract kept by shmdev\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void connectionsFindEachOtherByPmi2() throws Exception {
    Ended ended =
        run(
            List.of("-genv", "PMI_JOBID", "77", "-np", "3"),
            "-Dtalaria.mpj.device=nio",
            PROGRAMS,
            "gossip");
    assertThat(ended.output).isEqualTo("all of 3 have spoken\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void oneRankAlone() throws Exception {
    Ended ended = run(List.of("-np", "1"), PROGRAMS, "hello");
    assertThat(ended.output).isEqualTo("hello from 0 of 1\n");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void abortEndsTheJobWithItsStatus() throws Exception {
    Ended ended = run(List.of("-np", "3"), PROGRAMS, "abort", "7");
    assertThat(ended.status).isEqualTo(7);
    assertThat(ended.output).contains("rank 1 called Abort(7)");
  }

  @Test
  void aRankThatFailsEndsTheJob() throws Exception {
    Ended ended = run(List.of("-np", "3"), PROGRAMS, "throw");
    assertThat(ended.status).isNotZero();
    assertThat(ended.output.split("thrown on purpose", -1)).hasSize(2);
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
    Ended ended = run(List.of("-np", "2"), PROGRAMS, "gossip");
    assertThat(ended.status).isZero();
    nothingIsLeft();
  }

  @Test
  void aFolderThatIsNotThereIsNamed() throws Exception {
    Ended ended = run(List.of("-np", "2"), "-Dtalaria.mpj.dir=/no/such/folder", PROGRAMS, "hello");
    assertThat(ended.status).isNotZero();
    assertThat(ended.output)
        .contains("rank 0 cannot join the job: talaria.mpj.dir=/no/such/folder");
  }
}
