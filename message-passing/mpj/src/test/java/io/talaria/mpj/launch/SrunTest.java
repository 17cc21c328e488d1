// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that find each other by PMI-2, as Slurm's srun has them do; Slurm is a fake. */
@Timeout(300)
class SrunTest {
  private static final String PROGRAMS = Programs.class.getName();

  /** A shell opens the socket that Slurm would leave open. */
  private static final String SHELL = "exec 7<>/dev/tcp/127.0.0.1/$0; exec \"$@\"";

  @TempDir Path scratch;

  private final List<ChildProcess> ranks = new CopyOnWriteArrayList<>();
  private Path shared;

  @BeforeEach
  void aShellWithSocketsIsThere() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "no bash");
    shared = Files.createDirectory(scratch.resolve("shared"));
  }

  private void endAll() {
    ranks.forEach(ChildProcess::close);
  }

  /** Runs ranks to their end; returns what they said, in the order of ranks. */
  private String run(int size, String... words) throws Exception {
    StringBuilder said = new StringBuilder();
    try (FakeSlurm slurm = new FakeSlurm(size, this::endAll)) {
      for (int rank = 0; rank < size; rank++) {
        List<Object> command =
            new ArrayList<>(
                List.of("/bin/bash", "-c", SHELL, slurm.port(), ChildProcess.jdkProgram("java")));
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
        ranks.add(
            ChildProcess.command(command.toArray())
                .input(Path.of("/dev/null"))
                .oneOutput()
                .environment("PMI_FD", 7)
                .environment("PMI_RANK", rank)
                .environment("PMI_SIZE", size)
                .environment("PMI_JOBID", "77.0")
                .start());
      }
      for (ChildProcess rank : ranks) {
        int unused = rank.awaitEnd(Duration.ofSeconds(200));
        said.append(rank.output());
      }
    } finally {
      endAll();
    }
    return said.toString();
  }

  private void allEndedWell() {
    assertThat(ranks).allMatch(rank -> rank.exitStatus() == 0);
    assertThat(shared).isEmptyDirectory();
  }

  @Test
  void ranksSpeakOnRings() throws Exception {
    assertThat(run(3, PROGRAMS, "gossip")).isEqualTo("all of 3 have spoken\n");
    allEndedWell();
  }

  @Tag("long")
  @Test
  void theContractIsKeptOnRings() throws Exception {
    assertThat(run(3, "mpi.ContractMain")).isEqualTo("contract kept by shmdev\n");
    allEndedWell();
  }

  @Test
  void ranksSpeakOverConnections() throws Exception {
    assertThat(run(3, "-Dtalaria.mpj.device=nio", PROGRAMS, "gossip"))
        .isEqualTo("all of 3 have spoken\n");
    allEndedWell();
  }

  @Test
  void oneRankAlone() throws Exception {
    assertThat(run(1, PROGRAMS, "hello")).isEqualTo("hello from 0 of 1\n");
    allEndedWell();
  }

  @Test
  void abortEndsTheJob() throws Exception {
    assertThat(run(3, PROGRAMS, "abort", "7")).contains("rank 1 called Abort(7)");
    assertThat(ranks).allMatch(rank -> rank.exitStatus() != 0);
  }
}
