// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.file.SelectorTotals;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The writing side: what is counted arrives in the file, and no file is no harm. */
@Timeout(60)
class ProcessCountersTest {
  private static final InetSocketAddress LOCAL = new InetSocketAddress("127.0.0.1", 40001);
  private static final InetSocketAddress REMOTE = new InetSocketAddress("::1", 65535);

  @TempDir Path dir;

  private ProcessCounters open() {
    ProcessCounters counters = ProcessCounters.open(dir, Runnable::run);
    assertThat(counters.problem()).isNull();
    return counters;
  }

  @Test
  void theFileIsNamedAfterTheProcessAndForItsUserOnly() throws Exception {
    try (ProcessCounters counters = open()) {
      long pid = ProcessHandle.current().pid();
      assertThat(counters.path())
          .isEqualTo(dir.resolve(pid + "-" + ProcFiles.startTicks(pid) + ".counters"));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(counters.path())))
          .isEqualTo("rw-------");
    }
  }

  @Test
  void whatAConnectionDidIsReadFromTheFile() throws Exception {
    try (ProcessCounters counters = open()) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 64 KiB/32 KiB");
      connection.rings(65536, 32768);
      connection.tcpIn(1);
      connection.tcpOut(2);
      connection.acceleratedIn(30);
      connection.acceleratedIn(40);
      connection.acceleratedOut(500);
      connection.stalled();
      connection.wakeupSent();
      connection.wakeupSent();
      connection.wakeupReceived();
      connection.slept();

      ProcessInfo read = CountersReader.read(counters.path());

      assertThat(read.connections()).containsExactly(connection.info());
      ConnectionInfo info = read.connections().get(0);
      assertThat(info.local()).isEqualTo(LOCAL);
      assertThat(info.remote()).isEqualTo(REMOTE);
      assertThat(info.detail()).isEqualTo("ring 64 KiB/32 KiB");
      assertThat(info.inBytes()).isEqualTo(71);
      assertThat(info.outBytes()).isEqualTo(502);
      assertThat(info.reads()).isEqualTo(3);
      assertThat(info.writes()).isEqualTo(2);
      assertThat(info.wakeupsSent()).isEqualTo(2);
      assertThat(info.ringInBytes()).isEqualTo(65536);
      assertThat(read.totals()).isEqualTo(counters.totals());
      assertThat(read.pid()).isEqualTo(ProcessHandle.current().pid());
      assertThat(read.liveness()).isEqualTo(Liveness.LIVE);
      assertThat(read.javaVersion()).contains(System.getProperty("java.runtime.version"));
      assertThat(read.program()).isNotEmpty();
      assertThat(read.damaged()).isZero();
      assertThat(read.unlisted()).isZero();
    }
  }

  @Test
  void addressesMayComeLater() throws Exception {
    try (ProcessCounters counters = open()) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
      assertThat(CountersReader.read(counters.path()).connections().get(0).local()).isNull();
      connection.addresses(LOCAL, REMOTE);
      assertThat(CountersReader.read(counters.path()).connections().get(0).remote())
          .isEqualTo(REMOTE);
      connection.addresses(InetSocketAddress.createUnresolved("nowhere.invalid", 1), null);
      assertThat(CountersReader.read(counters.path()).connections().get(0).local()).isNull();
    }
  }

  /** How often a description in the file has changed. */
  private static long sequence(ProcessCounters counters) throws IOException {
    return CountersFileFixture.bytes(counters.path()).getLong(CountersLayout.H_SEQUENCE);
  }

  @Test
  void onlyWhatIsNewIsWritten() throws Exception {
    try (ProcessCounters counters = open()) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 1 KiB/1 KiB", 1024, 1024);
      long before = sequence(counters);
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 1 KiB/1 KiB");
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 1 KiB/1 KiB", 1024, 1024);
      connection.rings(1024, 1024);
      assertThat(sequence(counters)).as("nothing is new").isEqualTo(before);

      List<Runnable> news =
          List.of(
              () -> connection.transport(NioTransport.TCP, Reason.SAME_HOST, "ring 1 KiB/1 KiB"),
              () -> connection.transport(NioTransport.TCP, Reason.PEER_LOST, "ring 1 KiB/1 KiB"),
              () -> connection.transport(NioTransport.TCP, Reason.PEER_LOST, ""),
              () -> connection.rings(2048, 1024),
              () -> connection.rings(2048, 4096),
              () -> connection.addresses(/* newLocal= */ REMOTE, /* newRemote= */ LOCAL),
              () -> connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring", 1, 2));
      for (int i = 0; i < news.size(); i++) {
        news.get(i).run();
        assertThat(sequence(counters)).as("change " + i).isEqualTo(before + 1 + i);
        assertThat(CountersReader.read(counters.path()).connections())
            .containsExactly(connection.info());
      }
      assertThat(connection.info().ringInBytes()).isEqualTo(1);
      assertThat(connection.info().ringOutBytes()).isEqualTo(2);
      assertThat(connection.info().local()).isEqualTo(REMOTE);
    }
  }

  @Test
  void aRecordShowsNothingOfThoseThatHadItsPlaceBefore() throws Exception {
    try (ProcessCounters counters = open()) {
      ConnectionCounters first = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      first.transport(
          NioTransport.SHM, Reason.SAME_HOST, "ring 1024 KiB/1024 KiB", 1 << 20, 1 << 20);
      first.acceleratedIn(7);
      first.close();
      SelectorCounters selector = counters.selector();
      selector.selected();
      selector.close();

      ConnectionCounters next = counters.connection(Role.ACCEPTED, null, LOCAL);

      ByteBuffer file = CountersFileFixture.bytes(counters.path());
      assertThat(file.getInt(CountersLayout.H_USED)).as("places ever used").isEqualTo(1);
      assertThat(CountersReader.read(counters.path()).connections()).containsExactly(next.info());
      next.addresses(REMOTE, null);
      assertThat(CountersReader.read(counters.path()).connections()).containsExactly(next.info());
    }
  }

  @Test
  void closedConnectionsLeaveTheirCountsInTheTotals() throws Exception {
    try (ProcessCounters counters = open()) {
      for (int i = 0; i < 3; i++) {
        ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
        connection.acceleratedIn(10);
        connection.tcpOut(1);
        connection.wakeupSent();
        connection.close();
        connection.close();
      }
      ConnectionCounters open = counters.connection(Role.LISTENER, LOCAL, null);
      open.tcpIn(5);

      ProcessTotals totals = CountersReader.read(counters.path()).totals();

      assertThat(totals).isEqualTo(counters.totals());
      assertThat(totals.opened()).isEqualTo(4);
      assertThat(totals.closed()).isEqualTo(3);
      assertThat(totals.listeners()).isEqualTo(1);
      assertThat(totals.connections()).isZero();
      assertThat(totals.acceleratedInBytes()).isEqualTo(30);
      assertThat(totals.tcpOutBytes()).isEqualTo(3);
      assertThat(totals.tcpInBytes()).isEqualTo(5);
      assertThat(totals.wakeupsSent()).isEqualTo(3);
    }
  }

  @Test
  void countingAfterCloseShowsNowhere() throws Exception {
    try (ProcessCounters counters = open()) {
      ConnectionCounters closed = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      closed.close();
      ConnectionCounters open = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      closed.acceleratedIn(1);
      closed.transport(NioTransport.SHM, Reason.SAME_HOST, "");
      closed.wakeupSent();
      assertThat(CountersReader.read(counters.path()).connections()).containsExactly(open.info());
      assertThat(counters.totals().acceleratedInBytes()).isZero();
    }
  }

  @Test
  void upgradesSessionsAndSelectorsAreCounted() throws Exception {
    try (ProcessCounters counters = open()) {
      counters.offerMade();
      counters.offerMade();
      counters.offerReceived();
      counters.acceptedByPeer();
      counters.acceptedByUs();
      counters.refused(Reason.PEER_NOT_ACCELERATED);
      counters.refused(Reason.PEER_NOT_ACCELERATED);
      counters.refused(Reason.SHM_FULL);
      counters.sessionOpened();
      counters.sessionOpened();
      counters.sessionClosed();
      SelectorCounters closed = counters.selector();
      closed.selected();
      closed.innerSelected();
      closed.innerSelected();
      closed.close();
      closed.close();
      SelectorCounters open = counters.selector();
      open.selected();
      open.wokenUp();

      ProcessInfo read = CountersReader.read(counters.path());

      assertThat(read.connections()).isEmpty();
      ProcessTotals totals = read.totals();
      assertThat(totals).isEqualTo(counters.totals());
      assertThat(totals.offersMade()).isEqualTo(2);
      assertThat(totals.offersReceived()).isEqualTo(1);
      assertThat(totals.acceptedByPeer()).isEqualTo(1);
      assertThat(totals.acceptedByUs()).isEqualTo(1);
      assertThat(totals.refused())
          .containsOnly(
              java.util.Map.entry(Reason.PEER_NOT_ACCELERATED, 2L),
              java.util.Map.entry(Reason.SHM_FULL, 1L));
      assertThat(totals.sessions()).isEqualTo(1);
      assertThat(totals.sessionsOpened()).isEqualTo(2);
      assertThat(totals.selectors()).isEqualTo(new SelectorTotals(1, 2, 2, 1));
    }
  }

  @Test
  void theFileGrowsAndGivesRecordsBack() throws Exception {
    try (ProcessCounters counters = open()) {
      for (int round = 0; round < 3; round++) {
        List<ConnectionCounters> open = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
          ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
          connection.acceleratedIn(i);
          open.add(connection);
        }
        ProcessInfo read = CountersReader.read(counters.path());
        assertThat(read.connections())
            .containsExactlyElementsOf(open.stream().map(ConnectionCounters::info).toList());
        open.forEach(ConnectionCounters::close);
        assertThat(CountersReader.read(counters.path()).connections()).isEmpty();
      }
      assertThat(Files.size(counters.path()))
          .isEqualTo(CountersLayout.recordOffset(5 * CountersLayout.CHUNK_RECORDS));
    }
  }

  @Test
  void countsMadeBeforeThereIsRoomArriveWithIt() throws Exception {
    Queue<Runnable> work = new ArrayDeque<>();
    try (ProcessCounters counters = ProcessCounters.open(dir, work::add)) {
      counters.offerMade();
      ConnectionCounters closed = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      closed.acceleratedIn(100);
      closed.close();
      ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      connection.acceleratedIn(1);
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring");
      assertThat(counters.path()).isNull();
      assertThat(dir).isEmptyDirectory();

      work.remove().run();
      connection.acceleratedIn(2);

      ProcessInfo read = CountersReader.read(counters.path());
      assertThat(read.connections()).containsExactly(connection.info());
      assertThat(read.connections().get(0).acceleratedInBytes()).isEqualTo(3);
      assertThat(read.totals()).isEqualTo(counters.totals());
      assertThat(read.totals().acceleratedInBytes()).isEqualTo(103);
    }
  }

  @Test
  void connectionsWithoutRoomAreSaidToBeUnlistedUntilThereIs() throws Exception {
    Queue<Runnable> work = new ArrayDeque<>();
    try (ProcessCounters counters = ProcessCounters.open(dir, work::add)) {
      work.remove().run();
      List<ConnectionCounters> open = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        open.add(counters.connection(Role.CLIENT, LOCAL, REMOTE));
      }
      assertThat(CountersReader.read(counters.path()).unlisted()).isEqualTo(44);
      open.get(0).close();
      assertThat(CountersReader.read(counters.path()).unlisted()).isEqualTo(43);
      assertThat(CountersReader.read(counters.path()).connections()).hasSize(256);
      assertThat(counters.snapshot()).hasSize(299);

      assertThat(work).hasSize(1);
      work.remove().run();

      ProcessInfo read = CountersReader.read(counters.path());
      assertThat(read.unlisted()).isZero();
      assertThat(read.connections()).isEqualTo(counters.snapshot());
    }
  }

  @Test
  void withoutADirectoryCountingGoesOnOnTheHeapAndSomebodyIsTold() {
    Path missing = dir.resolve("missing");
    List<String> told = new ArrayList<>();
    try (ProcessCounters counters = ProcessCounters.open(missing, Runnable::run, told::add)) {
      assertThat(told).containsExactly(counters.problem());
      assertThat(counters.problem())
          .contains("cannot make a counters file in " + missing)
          .contains("NoSuchFile");
      assertThat(counters.path()).isNull();
      assertWorksOnHeap(counters);
    }
  }

  @Test
  void inADirectoryOpenToOthersCountingGoesOnOnTheHeap() throws Exception {
    Path open = Files.createDirectory(dir.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path link = Files.createSymbolicLink(dir.resolve("link"), dir);
    for (Path insecure : List.of(open, link)) {
      try (ProcessCounters counters = ProcessCounters.open(insecure, Runnable::run)) {
        assertThat(counters.problem())
            .contains("cannot make a counters file in " + insecure)
            .contains(insecure.equals(link) ? "is not a directory" : "rwxr-xr-x, not rwx------");
        assertWorksOnHeap(counters);
      }
    }
    assertThat(open).isEmptyDirectory();
  }

  @Test
  void withoutAThreadForFileWorkCountingGoesOnOnTheHeap() {
    try (ProcessCounters counters =
        ProcessCounters.open(
            dir,
            work -> {
              throw new RejectedExecutionException("shut down");
            })) {
      assertThat(counters.problem()).contains("no thread for file work").contains("shut down");
      assertWorksOnHeap(counters);
    }
  }

  @Test
  void countersOnTheHeapSayWhy() {
    ProcessCounters counters = ProcessCounters.onHeap("the directory is another user's");
    assertThat(counters.problem()).isEqualTo("the directory is another user's");
    assertWorksOnHeap(counters);
  }

  private static void assertWorksOnHeap(ProcessCounters counters) {
    ConnectionCounters connection = counters.connection(Role.ACCEPTED, LOCAL, REMOTE);
    connection.acceleratedIn(3);
    connection.transport(NioTransport.TCP, Reason.PEER_NOT_ACCELERATED, "");
    assertThat(counters.snapshot()).containsExactly(connection.info());
    assertThat(counters.totals().acceleratedInBytes()).isEqualTo(3);
    connection.close();
    assertThat(counters.snapshot()).isEmpty();
  }

  @Test
  void anInterruptedThreadLosesTheFileButNothingElse() {
    Thread.currentThread().interrupt();
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      assertThat(Thread.interrupted()).isTrue();
      assertThat(counters.problem()).contains("ClosedByInterruptException");
      assertWorksOnHeap(counters);
      assertThat(dir).isEmptyDirectory();
    }
  }

  @Test
  void aLinkInPlaceOfTheFileIsNotFollowed() throws Exception {
    long pid = ProcessHandle.current().pid();
    Path victim = Files.writeString(dir.resolve("victim"), "precious");
    Path link =
        Files.createSymbolicLink(
            dir.resolve(CountersLayout.fileName(pid, ProcFiles.startTicks(pid), 0)), victim);
    try (ProcessCounters counters = open()) {
      assertThat(counters.path()).isNotEqualTo(link);
      assertThat(Files.readString(victim)).isEqualTo("precious");
      assertThat(CountersReader.read(counters.path()).pid()).isEqualTo(pid);
    }
  }

  @Test
  void twoTalariasOfOneProcessHaveAFileEach() throws Exception {
    try (ProcessCounters one = open();
        ProcessCounters two = open()) {
      assertThat(one.path()).isNotEqualTo(two.path());
      assertThat(CountersReader.readDirectory(dir).processes()).hasSize(2);
      assertThat(CountersReader.readDirectory(dir).problems()).isEmpty();
    }
  }

  @Test
  void closingRemovesTheFileAndCountingGoesOn() {
    ProcessCounters counters = open();
    ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
    counters.close();
    counters.close();
    assertThat(dir).isEmptyDirectory();
    connection.acceleratedIn(1);
    connection.transport(NioTransport.SHM, Reason.SAME_HOST, "");
    connection.close();
    for (int i = 0; i < 300; i++) {
      counters.connection(Role.CLIENT, LOCAL, REMOTE).acceleratedIn(1);
    }
    assertThat(counters.totals().acceleratedInBytes()).isEqualTo(301);
    assertThat(dir).isEmptyDirectory();
  }

  @Test
  void aFileThatIsMadeAfterCloseIsRemovedAtOnce() {
    Queue<Runnable> work = new ArrayDeque<>();
    ProcessCounters counters = ProcessCounters.open(dir, work::add);
    counters.close();
    work.remove().run();
    assertThat(dir).isEmptyDirectory();
    assertThat(counters.path()).isNull();
  }

  @Test
  void longTextsAreCutBetweenCharacters() throws Exception {
    try (ProcessCounters counters = open()) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, LOCAL, REMOTE);
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ü".repeat(25));
      assertThat(CountersReader.read(counters.path()).connections().get(0).detail())
          .isEqualTo("ü".repeat(19));
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "x" + "\uD83D\uDC5F".repeat(25));
      assertThat(CountersReader.read(counters.path()).connections().get(0).detail())
          .isEqualTo("x" + "\uD83D\uDC5F".repeat(9));
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "y");
      assertThat(CountersReader.read(counters.path()).connections().get(0).detail()).isEqualTo("y");
    }
  }

  @Test
  void programsAreNamedByClassOrJar() {
    assertName("org.example.Server --port 1", "/opt/a.jar:/opt/b.jar", "Server");
    assertName("org.example/org.example.Server x", "", "Server");
    assertName("/opt/app/server-1.2.jar -v", "/opt/app/server-1.2.jar", "server-1.2.jar");
    assertName("/opt/jenkins.war --httpPort=8080", "/opt/jenkins.war", "jenkins.war");
    assertName("jenkins.war", "jenkins.war:/x/talaria.jar", "jenkins.war");
    assertName("/opt/my app/server.jar x", "/opt/my app/server.jar:/x/talaria.jar", "server.jar");
    assertName("/usr/bin/python3.11", "", "python3.11");
    assertName("", "", "");
  }

  private static void assertName(String command, String classPath, String name) {
    assertThat(ProgramName.shortName(command, classPath)).isEqualTo(name);
  }
}
