// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.config.Config;
import io.talaria.nio.process.PeerCredentials;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where a listener stands, and what of it can be seen. */
@Timeout(60)
class AnnouncementTest {
  private static final int PORT = 7005;
  private static final ByteBuffer PAYLOAD = ByteBuffer.allocate(4);

  @TempDir Path temporary;

  private Node node(Path directory) {
    return new Node(directory, new FakeTransport());
  }

  @Test
  void anAnnouncementAppearsUnderItsNameAndListens() throws Exception {
    Node server = node(temporary.resolve("run"));
    assertThat(server.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
    Path named = server.announced(PORT);
    assertThat(named.getFileName().toString()).matches("l-" + PORT + "-[0-9a-f]{16}");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(server.directory)))
        .isEqualTo("rwx------");
    assertThat(server.files("")).as("all files").hasSize(1);
    RawSession.dial(named).close();
  }

  @Test
  void aListenerThatClosesTakesItsNameAlongAndLeavesItsSessions() throws Exception {
    Node server = node(temporary.resolve("run"));
    server.announce(PORT);
    try (RawSession session = RawSession.dial(server.announced(PORT))) {
      session.write(Wire.hello(RawSession.hello("fake", PAYLOAD)));
      session.expect(Wire.WELCOME);
      server.negotiator.retire(server.announcement);
      assertThat(server.files("")).isEmpty();
      server.settle();
      FakeChannel accepted = new FakeChannel(FakeChannel.key(1, PORT));
      server.negotiator.accepted(accepted); // from the backlog, before it closed
      session.write(Wire.offer(1, accepted.key(), null, PAYLOAD));
      session.expect(Wire.ANSWER);
      accepted.awaitAttached();
    }
    assertThat(server.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
    assertThat(server.files("l-")).hasSize(1);
    server.assertNoFailure();
  }

  @Test
  void aListenerThatClosesBeforeItIsAnnouncedLeavesNothing() throws Exception {
    Node server = node(temporary.resolve("run"));
    for (int i = 0; i < 100; i++) {
      Announcement made =
          server.negotiator.announce(new InetSocketAddress("127.0.0.1", PORT + i), outcome -> {});
      if (i % 3 == 0) {
        server.settle();
      }
      server.negotiator.retire(made);
    }
    server.settle();
    assertThat(server.files("")).isEmpty();
    server.assertNoFailure();
  }

  @Test
  void allNamesGoWithTheProcess() throws Exception {
    Node server = node(temporary.resolve("run"));
    for (int i = 0; i < 5; i++) {
      server.announce(PORT + i);
    }
    server.negotiator.removeFiles();
    assertThat(server.files("")).isEmpty();
  }

  @Test
  void whereThereIsNoDirectoryNothingIsAnnounced() throws Exception {
    Node server = node(temporary.resolve("missing").resolve("run"));
    assertThat(server.announce(PORT)).isEqualTo(Reason.NO_RUNTIME_DIR);
    server.assertNoFailure();
  }

  @Test
  void inADirectoryOfOthersNothingIsAnnounced() throws Exception {
    Path open = Files.createDirectory(temporary.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    Node server = node(open);
    assertThat(server.announce(PORT)).isEqualTo(Reason.INSECURE_DIR);
    assertThat(open).isEmptyDirectory();
    server.assertNoFailure();
  }

  @Test
  void theLongestDirectoryThatMayBeConfiguredWillDo() throws Exception {
    String folder = temporary + "/";
    Node both = node(Path.of(folder + "d".repeat(Config.MAX_DIR_BYTES - folder.length())));
    assertThat(both.announce(65_535)).isEqualTo(Reason.ANNOUNCED);
    RawSession.dial(both.announced(65_535)).close();
    both.assertNoFailure();
  }

  @Test
  void aPathTooLongForASocketIsReportedAndLeavesNothing() throws Exception {
    Path deep = temporary.resolve("d".repeat(120));
    Node both = node(deep);
    assertThat(both.announce(PORT)).isEqualTo(Reason.NO_RUNTIME_DIR);
    assertThat(deep).isEmptyDirectory();
    assertThat(both.log).hasSize(1).first().asString().contains("cannot announce").contains("long");

    Files.createFile(deep.resolve("l-" + PORT + "-0000000000000001"));
    FakeChannel channel = new FakeChannel(FakeChannel.key(1, PORT));
    both.negotiator.connected(channel);
    channel.awaitPlain(Reason.PEER_NOT_ACCELERATED);
    both.assertNoFailure();
  }

  @Test
  void whoeverDialsWhileTheDirectoryIsAwayIsHungUpOn() throws Exception {
    Path away = temporary.resolve("away");
    Node server = node(temporary.resolve("run"));
    server.announce(PORT);
    Path named = server.announced(PORT);
    Files.move(server.directory, away);
    for (int i = 0; i < 2; i++) {
      try (RawSession session = RawSession.dial(away.resolve(named.getFileName()))) {
        session.awaitEnd();
      }
    }
    Files.move(away, server.directory);
    try (RawSession session = RawSession.dial(named)) {
      session.write(Wire.hello(RawSession.hello("fake", PAYLOAD)));
      session.expect(Wire.WELCOME);
    }
    server.assertNoFailure();
  }

  @Test
  void namesOfProcessesThatHaveEndedAreSweptAtTheStart() throws Exception {
    Path directory = temporary.resolve("run");
    Node first = node(directory);
    first.announce(PORT);
    Path live = first.announced(PORT);
    String id = live.getFileName().toString().substring(("l-" + PORT + "-").length());
    String ended = EndedProcess.digitsLike(id);
    Path announcement = Files.createFile(directory.resolve("l-1-" + ended));
    Path temporaryName = Files.createFile(directory.resolve("t" + ended));
    Path ofTheUser = Files.createFile(directory.resolve("lecture-notes"));

    Node second = node(directory);
    second.negotiator.execute(() -> {});
    second.settle();

    assertThat(announcement).doesNotExist();
    assertThat(temporaryName).doesNotExist();
    assertThat(ofTheUser).exists();
    assertThat(live).exists();
  }

  /** As when the one process at the other end of hundreds of sessions is killed. */
  @Test
  void sessionsThatEndTogetherAreSweptAfterOnce() throws Exception {
    FakeTransport transport = new FakeTransport();
    Node server = new Node(temporary.resolve("run"), transport);
    server.announce(PORT);
    Path named = server.announced(PORT);
    for (int i = 0; i < 100; i++) { // each leaves its end open
      RawSession session = RawSession.dial(named);
      session.write(Wire.hello(RawSession.hello("fake", PAYLOAD)));
      session.expect(Wire.WELCOME);
    }
    assertThat(transport.peers).hasSize(100);
    int before = transport.sweeps.get();
    String id = named.getFileName().toString().substring(("l-" + PORT + "-").length());
    Path left = Files.createFile(server.directory.resolve("l-1-" + EndedProcess.digitsLike(id)));

    server.negotiator.execute(
        () -> transport.peers.forEach(peer -> ((Session) peer).close(Reason.PEER_LOST)));
    while (Files.exists(left)) {
      Thread.sleep(1);
    }
    server.settle();

    assertThat(transport.gone).hasSize(100);
    assertThat(transport.sweeps).hasValue(before + 1);
    assertThat(named).exists();
  }

  @Test
  void whatCoversAConnectionIsItsAddressAndPort() throws Exception {
    ConnectionKey key = FakeChannel.key(1, PORT);
    InetAddress any = new InetSocketAddress(0).getAddress();
    assertThat(new Announcement(null, new InetSocketAddress(any, PORT)).covers(key)).isTrue();
    assertThat(new Announcement(null, new InetSocketAddress("127.0.0.1", PORT)).covers(key))
        .isTrue();
    assertThat(new Announcement(null, new InetSocketAddress("127.0.0.2", PORT)).covers(key))
        .isFalse();
    assertThat(new Announcement(null, new InetSocketAddress("127.0.0.1", 1)).covers(key)).isFalse();
    assertThat(new Announcement(null, new InetSocketAddress("::1", PORT)).covers(key)).isFalse();
  }

  @Test
  void onlyTheUserWhoOwnsTheDirectoryIsTheSame() throws Exception {
    Path directory = temporary.resolve("run");
    Node server = node(directory);
    server.announce(PORT);
    try (java.nio.channels.SocketChannel channel =
        java.nio.channels.SocketChannel.open(
            java.net.UnixDomainSocketAddress.of(server.announced(PORT)))) {
      assertThat(PeerCredentials.sameUser(channel, directory)).isTrue();
      assertThatThrownBy(() -> PeerCredentials.sameUser(channel, temporary.resolve("missing")))
          .isInstanceOf(java.nio.file.NoSuchFileException.class);
    }
  }
}
