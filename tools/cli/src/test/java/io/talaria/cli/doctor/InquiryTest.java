// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.doctor.Inquiry.Answer;
import io.talaria.cli.doctor.checks.Surroundings;
import io.talaria.cli.doctor.checks.Surroundings.HostFiles;
import io.talaria.cli.doctor.checks.TcpTable;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.ProcessCounters;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * What {@code doctor --connect} and {@code --pid} say of hosts that cannot be set up in a test.
 * With real processes: NotAcceleratedTest in module it.
 */
@Timeout(60)
class InquiryTest {
  private static final long SELF = ProcessHandle.current().pid();
  private static final String HEAD = "  sl  local_address rem_address   st\n";

  @TempDir Path temp;

  private Path root;
  private Path run;

  @BeforeEach
  void makeRoot() throws IOException {
    root = Files.createDirectory(temp.resolve("root"));
    run =
        Files.createDirectory(
            temp.resolve("run"),
            java.nio.file.attribute.PosixFilePermissions.asFileAttribute(
                java.nio.file.attribute.PosixFilePermissions.fromString("rwx------")));
  }

  private void system(String path, String content) throws IOException {
    Path file = root.resolve(path.substring(1));
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  /** A row of the kernel's table: 127.0.0.1, ports in hexadecimal. */
  private static String row(String local, String remote, String state, int user, int inode) {
    return String.format(
        "   0: 0100007F:%s %s:%s %s 00000000:00000000 00:00000000 00000000 %d 0 %d 1 0 100 0%n",
        local, remote.equals("0000") ? "00000000" : "0100007F", remote, state, user, inode);
  }

  private void process(long pid, int user, String comm, String command, int inode)
      throws IOException {
    String folder = "/proc/" + pid;
    system(folder + "/comm", comm + "\n");
    system(folder + "/status", "Name:\t" + comm + "\nUid:\t" + user + "\t" + user + "\t0\t0\n");
    system(folder + "/cmdline", command.replace(' ', '\0') + "\0");
    system(folder + "/environ", "PATH=/bin\0");
    Path descriptors = Files.createDirectories(root.resolve(folder.substring(1) + "/fd"));
    Files.createSymbolicLink(descriptors.resolve("5"), Path.of("socket:[" + inode + "]"));
  }

  private Surroundings here() {
    return new Surroundings(
        root,
        run,
        temp.resolve("shm"),
        1 << 15,
        1 << 22,
        0,
        2,
        null,
        "",
        List.of(),
        new HostFiles(null, null, 10_000));
  }

  private Answer ask(int port) throws IOException {
    return Inquiry.connect(here(), new HostPort("127.0.0.1", port));
  }

  @Test
  void addressesAreReadAsTheKernelPrintsThem() {
    assertThat(TcpTable.address("0100007F:1F90"))
        .isEqualTo(new InetSocketAddress("127.0.0.1", 8080));
    assertThat(TcpTable.address("00000000000000000000000001000000:0050"))
        .isEqualTo(new InetSocketAddress("::1", 80));
    assertThat(TcpTable.address("0000000000000000FFFF00000100007F:0050"))
        .isEqualTo(new InetSocketAddress("127.0.0.1", 80));
  }

  @Test
  void aPortWhereNobodyListens() throws Exception {
    Answer answer = ask(8080);
    assertThat(answer.good()).isFalse();
    assertThat(answer.text()).contains("no process listens on port 8080", "stay on TCP");
  }

  @Test
  void aServerThatIsNoJvm() throws Exception {
    system("/proc/net/tcp", HEAD + row("1F90", "0000", "0A", 1000, 77));
    process(42, 1000, "nginx", "/usr/sbin/nginx -g x", 77);
    assertThat(ask(8080).text()).contains("the server, pid 42 (nginx), is no JVM");
  }

  @Test
  void aServerWithoutTheAgentAndOneThatIsSwitchedOff() throws Exception {
    system(
        "/proc/net/tcp",
        HEAD + row("1F90", "0000", "0A", 1000, 77) + row("1F91", "0000", "0A", 1000, 78));
    process(42, 1000, "java", "/opt/bin/java -jar app.jar", 77);
    process(43, 1000, "java", "java -javaagent:/x/talaria.jar -Dtalaria.enabled=false -jar a", 78);
    assertThat(ask(8080).text())
        .contains("the server, pid 42 (java), runs without Talaria", "→ Start it with -javaagent");
    assertThat(ask(8081).text()).contains("pid 43 (java), has talaria.enabled=false");
  }

  @Test
  void aServerWhoseCommandLineIsEmpty() throws Exception {
    process(42, 1000, "cat", "", 77);
    system("/proc/net/tcp", HEAD + row("1F90", "0000", "0A", 1000, 77));
    assertThat(ask(8080).text()).contains("pid 42 (cat)");
    assertThat(Inquiry.process(here(), 42).text()).contains("pid 42 (cat)");
  }

  /** The JVM takes quotes anywhere in a word, and white space between them as it is. */
  @Test
  void optionsInTheEnvironmentAreReadAsTheJvmReadsThem() throws Exception {
    process(42, 1000, "java", "java -jar a", 77);
    system(
        "/proc/42/environ",
        "PATH=/bin\0JAVA_TOOL_OPTIONS= '-javaagent:/my tree/talaria.jar'\t"
            + "-Dtalaria.dir=\"/it's \"here -Dtalaria.empty='' -Dtalaria.shm.dir=/a'\"'b \0");

    ProcessFacts facts = ProcessFacts.of(here(), 42);

    assertThat(facts.words())
        .containsExactly(
            "-javaagent:/my tree/talaria.jar",
            "-Dtalaria.dir=/it's here",
            "-Dtalaria.empty=",
            "-Dtalaria.shm.dir=/a\"b",
            "java",
            "-jar",
            "a");
    assertThat(facts.hasAgent()).isTrue();
    assertThat(facts.dir()).isEqualTo(Path.of("/it's here"));
  }

  @Test
  void aServerOfAnotherUserThatCannotBeLookedAt() throws Exception {
    system("/proc/net/tcp", HEAD + row("1F90", "0000", "0A", 65534, 77));
    assertThat(ask(8080).text())
        .contains("the listener belongs to user 65534", Reason.OTHER_USER.hint());
  }

  @Test
  void aClientOfAnotherUser() throws Exception {
    system(
        "/proc/net/tcp",
        HEAD
            + row("1F90", "0000", "0A", 1000, 77)
            + row("1F90", "9C40", "01", 1000, 79)
            + row("9C40", "1F90", "01", 65534, 80));
    process(SELF, 1000, "java", "java -javaagent:/x/talaria.jar -jar a", 77);
    try (ProcessCounters counters = ProcessCounters.open(run, Runnable::run)) {
      InetSocketAddress server = new InetSocketAddress("127.0.0.1", 8080);
      counters
          .connection(Role.LISTENER, server, null)
          .transport(NioTransport.SHM, Reason.ANNOUNCED, "");
      counters
          .connection(Role.ACCEPTED, server, new InetSocketAddress("127.0.0.1", 40_000))
          .transport(NioTransport.TCP, Reason.NO_OFFER, "");
      Answer answer = ask(8080);
      assertThat(answer.notAccelerated()).isEqualTo(1);
      assertThat(answer.text())
          .contains("listens at 127.0.0.1:8080, announced in " + run)
          .contains("not accelerated, no-offer. The client runs as user 65534, this as 1000")
          .contains("0 accelerated, 1 not accelerated.");
    }
  }

  @Test
  @Timeout(40)
  void aServerBehindAProxyWithThousandsOfConnections() throws Exception {
    int many = 8_000;
    StringBuilder table = new StringBuilder(HEAD + row("1F90", "0000", "0A", 1000, 77));
    for (int i = 0; i < many; i++) {
      table.append(row(String.format("%04X", 20_000 + i), "1F90", "01", 1000, 80));
    }
    system("/proc/net/tcp", table.toString());
    process(SELF, 1000, "java", "java -javaagent:/x/talaria.jar -jar a", 77);
    process(42, 1000, "nginx", "/usr/sbin/nginx -g x", 80);
    try (ProcessCounters counters = ProcessCounters.open(run, Runnable::run)) {
      InetSocketAddress server = new InetSocketAddress("127.0.0.1", 8080);
      for (int i = 0; i < many; i++) {
        counters
            .connection(Role.ACCEPTED, server, new InetSocketAddress("127.0.0.1", 20_000 + i))
            .transport(NioTransport.TCP, Reason.NO_OFFER, "");
      }
      Answer answer = Inquiry.process(here(), SELF);
      assertThat(answer.notAccelerated()).isEqualTo(many);
      assertThat(answer.text()).contains("is no JVM", many + " times");
    }
  }

  @Test
  void whatIsMissingForUcx() throws Exception {
    String missing = "Export UCX_HANDLE_ERRORS=none.";
    process(SELF, 1000, "java", "java -javaagent:/x/talaria.jar -jar a", 77);
    system("/proc/net/tcp", HEAD + row("1F90", "0000", "0A", 1000, 77));
    try (ProcessCounters counters = ProcessCounters.open(run, Runnable::run)) {
      counters.ucxUnavailable(missing);
      InetSocketAddress server = new InetSocketAddress("127.0.0.1", 8080);
      counters
          .connection(Role.LISTENER, server, null)
          .transport(NioTransport.TCP, Reason.NO_UCX, "");
      counters
          .connection(Role.ACCEPTED, server, new InetSocketAddress("127.0.0.1", 40_000))
          .transport(NioTransport.TCP, Reason.NO_UCX, "");
      assertThat(ask(8080).findings())
          .filteredOn(finding -> finding.toString().contains("no-ucx"))
          .hasSize(2)
          .allSatisfy(finding -> assertThat(finding.hint()).startsWith(missing.replace(".", "")));
    }
  }

  @Test
  void anotherHost() throws Exception {
    Answer answer = Inquiry.connect(here(), new HostPort("192.0.2.1", 80));
    assertThat(answer.text()).contains("192.0.2.1 is another host", Reason.NOT_LOCAL.hint());
  }

  @Test
  void aProcessThatIsNotThere() throws Exception {
    assertThat(Inquiry.process(here(), 4_000_000).text()).contains("no process 4000000 here");
  }

  @Test
  void aProcessSaysWhatItIs() throws Exception {
    try (ProcessCounters counters = ProcessCounters.open(run, Runnable::run)) {
      assertThat(counters.path()).isNotNull();
      Answer answer = Inquiry.process(here(), SELF);
      assertThat(answer.good()).isTrue();
      assertThat(answer.text()).contains("counters in " + run, "has no connection");
    }
  }

  @Test
  void aServerWithTheAgentThatListensByServerSocket() throws Exception {
    system(
        "/proc/net/tcp",
        HEAD + row("1F90", "0000", "0A", 1000, 77) + row("1F90", "9C40", "01", 1000, 79));
    process(SELF, 1000, "java", "java -javaagent:/x/talaria.jar -jar a", 77);
    try (ProcessCounters counters = ProcessCounters.open(run, Runnable::run)) {
      assertThat(counters.path()).isNotNull();
      assertThat(ask(8080).text())
          .contains("listens with Talaria", "java.net.ServerSocket without talaria.sockets")
          .contains("→ Set talaria.sockets=true")
          .doesNotContain("counters file");
      Answer answer = Inquiry.process(here(), SELF);
      assertThat(answer.good()).isFalse();
      assertThat(answer.text())
          .contains("counters in " + run)
          .contains("Talaria has none of its TCP sockets (listens at 127.0.0.1:8080)")
          .contains("→ Set talaria.sockets=true");
    }
  }

  @Test
  void aProcessWithTheAgentOrTheProviderAndNoCountersFile() throws Exception {
    process(42, 1000, "java", "java -javaagent:/x/talaria.jar -jar a", 77);
    process(
        43,
        1000,
        "java",
        "java -Djava.nio.channels.spi.SelectorProvider=io.talaria.nio.TalariaProvider a",
        78);
    assertThat(Inquiry.process(here(), 42).text())
        .contains("has the agent and no counters file in /tmp/talaria-1000", "another provider");
    assertThat(Inquiry.process(here(), 43).text())
        .contains("has the provider, not the agent, and has made no NIO channel yet")
        .contains("talaria.sockets=true");
  }

  @Test
  void theCommandTakesOneQuestionAndAnswersInJsonToo() throws Exception {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        new CommandLine(new DoctorCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err));
    assertThat(command.execute("--pid", "1", "--connect", "localhost:1")).isEqualTo(2);
    assertThat(command.execute("--connect", "localhost")).isEqualTo(2);
    assertThat(err.toString()).contains("mutually exclusive", "'localhost' is no HOST:PORT");
    assertThat(command.execute("--dir", run.toString(), "--pid", "4000000", "--json")).isEqualTo(1);
    JsonNode tree = Json.parse(out.toString());
    assertThat(tree.get("checks").get(0).get("found").asText()).contains("no process 4000000");
  }
}
