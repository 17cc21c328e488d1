// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A transport that takes its time to start keeps nobody from finding a listener. */
@Timeout(60)
class StartingTransportTest {
  private static final int PORT = 7033;

  @TempDir Path dir;

  private final FakeTransport atServer = new FakeTransport();
  private final FakeTransport atClient = new FakeTransport();
  private final List<Reason> listener = new CopyOnWriteArrayList<>();
  private final FakeChannel client = new FakeChannel(FakeChannel.key(1, PORT));
  private final FakeChannel server = new FakeChannel(FakeChannel.key(1, PORT));
  private Node serving;
  private Node connecting;

  @BeforeEach
  void open() {
    atServer.places = true;
    atClient.places = true;
    serving = new Node(dir.resolve("run"), atServer);
    connecting = new Node(dir.resolve("run"), atClient);
  }

  @AfterEach
  void check() throws Exception {
    serving.settle();
    connecting.settle();
    serving.assertNoFailure();
    connecting.assertNoFailure();
  }

  private void announceAndConnect() throws Exception {
    serving.negotiator.announce(new InetSocketAddress("127.0.0.1", PORT), listener::add);
    serving.settle();
    assertThat(listener).containsExactly(Reason.ANNOUNCED);
    connecting.negotiator.connected(client);
    serving.negotiator.accepted(server);
    connecting.settle();
    serving.settle();
  }

  @Test
  void aListenerIsAnnouncedAtOnceAndAnswersOnceItsTransportHasStarted() throws Exception {
    atServer.starting = true;
    announceAndConnect();
    assertThat(client.stream).isNull();
    atServer.starting = false;
    client.awaitAttached();
    server.awaitAttached();
    assertThat(listener).containsExactly(Reason.ANNOUNCED, Reason.ANNOUNCED);
  }

  /** What a listener is shown with. */
  @Test
  void theFirstTransportThatMayBeUsableIsPreferred() {
    FakeTransport first = new FakeTransport();
    first.kind = NioTransport.UCX;
    LocalTransports both = new LocalTransports(List.of(first, atServer), null, why -> {});
    assertThat(both.preferred()).isEqualTo(NioTransport.UCX);
    first.starting = true;
    assertThat(both.preferred()).isEqualTo(NioTransport.UCX);
    first.starting = false;
    first.unavailable = Reason.NO_UCX;
    assertThat(both.preferred()).isEqualTo(NioTransport.SHM);
    atServer.unavailable = Reason.NO_SHM_DIR;
    assertThat(both.preferred()).isEqualTo(NioTransport.TCP);
  }

  @Test
  void aClientAsksOnceItsTransportHasStarted() throws Exception {
    atClient.starting = true;
    announceAndConnect();
    assertThat(client.stream).isNull();
    assertThat(atClient.offers).hasValue(0);
    atClient.starting = false;
    client.awaitAttached();
    server.awaitAttached();
  }

  @Test
  void anAnnouncementIsTakenBackIfTheTransportTurnsOutToBeMissing() throws Exception {
    atServer.starting = true;
    announceAndConnect();
    atServer.unavailable = Reason.NO_UCX;
    atServer.starting = false;
    client.awaitPlain(
        Reason.PEER_NOT_ACCELERATED); // nobody died: nobody announces the port any more
    assertThat(listener).containsExactly(Reason.ANNOUNCED, Reason.NO_UCX);
    assertThat(serving.files(Announcement.namePrefix(PORT))).isEmpty();
  }

  @Test
  void aListenerThatIsClosedMeanwhileStaysClosed() throws Exception {
    atServer.starting = true;
    announceAndConnect();
    Announcement announcement =
        serving.negotiator.announce(new InetSocketAddress("127.0.0.1", PORT + 1), reason -> {});
    serving.settle();
    serving.negotiator.retire(announcement);
    atServer.starting = false;
    client.awaitAttached();
    TimeUnit.MILLISECONDS.sleep(10); // every 2 ms it is looked at
    assertThat(serving.files(Announcement.namePrefix(PORT + 1))).isEmpty();
  }
}
