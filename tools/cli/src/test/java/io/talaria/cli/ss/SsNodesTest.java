// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The table of nodes. */
class SsNodesTest {
  private static final long PID = ProcessHandle.current().pid();

  @TempDir Path dir;
  private final StringWriter err = new StringWriter();
  private int status;

  private String run(String... more) {
    StringWriter out = new StringWriter();
    String[] args = new String[more.length + 3];
    args[0] = "--dir";
    args[1] = dir.toString();
    args[2] = "--nodes";
    System.arraycopy(more, 0, args, 3, more.length);
    status =
        new CommandLine(new SsCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(args);
    return out.toString();
  }

  /** The file of a node of this process. */
  private void write(int node, String peers) throws IOException {
    write(PID, ProcFiles.startTicks(PID), node, peers);
  }

  private void write(long pid, long start, int node, String peers) throws IOException {
    String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    Files.writeString(
        dir.resolve(pid + "-" + start + "-" + node + ".messages"),
        "{\"talariaMessages\":2,\"pid\":"
            + pid
            + ",\"namespace\":\""
            + namespace
            + "\",\"cluster\":\"shop\",\"node\":"
            + node
            + ",\"received\":12,\"openRequests\":3,\"lost\":1,\"dropped\":0,\"failed\":0,\"late\":0,"
            + "\"stalled\":2,\"peers\":["
            + peers
            + "]}\n");
  }

  private static final String PEER =
      "{\"peer\":9,\"transport\":\"shm\",\"reason\":\"same user, same host\",\"state\":\"connected\","
          + "\"outBytes\":2048,\"deliveredBytes\":1024,\"inBytes\":24,\"unconsumedBytes\":1024,"
          + "\"dataRingBytes\":32768,\"openRequests\":3,\"waiting\":0}";

  @Test
  void nodesAndTheirPeersAreShown() throws IOException {
    write(7, PEER);
    write(5, "");
    String text = run();
    assertThat(status).isZero();
    assertThat(text.lines().toList())
        .anySatisfy(line -> assertThat(line).matches("shop +5 +" + PID + " +0 +12 +3 +1 .*"))
        .anySatisfy(line -> assertThat(line).matches("shop +7 +" + PID + " +1 +12 +3 +1 .*"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .matches(
                        "shop +7 +9 +shm +connected +2 KiB +1 KiB +24 B +1 KiB of 32 KiB +3 +0"
                            + " +same user, same host"));
  }

  @Test
  void filesCannotControlTheTerminal() throws IOException {
    write(7, PEER.replace("same user", "a\\u001b[2Jb\\u202ec\\nd"));
    assertThat(run()).contains("a?[2Jb?c?d, same host").doesNotContain("\u001b", "\u202e");
  }

  @Test
  void aScriptGetsWhatTheFilesSay() throws IOException {
    write(7, PEER);
    JsonNode all = Json.parse(run("--json"));
    assertThat(all.path("nodes").path(0).path("peers").path(0).path("peer").asInt()).isEqualTo(9);
    assertThat(run("--json", "--watch", "0.01", "--count", "2").lines()).hasSize(2);
  }

  @Test
  void theDeadAreNotShownAndWhatIsNoFileOfOursIsSaid() throws IOException {
    write(4_194_305, 1, 7, PEER); // above the largest process id
    assertThat(run()).contains("no node of messaging is found in " + dir);
    Files.writeString(dir.resolve("1-1-1.messages"), "{\"talariaMessages\":9}");
    Files.writeString(dir.resolve("2-1-1.messages"), "no JSON");
    assertThat(run()).contains("has version 9 instead of 2").contains("cannot be read");
  }

  @Test
  void theNextProcessOfThatIdIsNotTheNode() throws IOException {
    write(PID, ProcFiles.startTicks(PID) - 1, 7, PEER);
    assertThat(run()).contains("no node of messaging is found in " + dir);
  }

  @Test
  void whatDoesNotGoTogetherIsRefused() {
    run("--pid", "1");
    assertThat(status).isEqualTo(2);
    assertThat(err.toString()).contains("--nodes has no filters, no --sort and no --prometheus");
  }
}
