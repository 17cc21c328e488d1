// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.EchoClient;
import io.talaria.it.programs.EchoServer;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which transport a connection gets, by what the two sides ask for and what they have. */
@Timeout(value = 90, unit = TimeUnit.SECONDS)
class TransportChoiceTest {
  @RegisterExtension final Lab lab = new Lab();

  private ConnectionInfo connect(
      Flavour flavour, String atServer, String atClient, NioTransport transport, Reason reason)
      throws Exception {
    flavour.assume();
    return connect(
        lab.child(flavour, EchoServer.class).property("talaria.transports", atServer),
        lab.child(flavour, EchoClient.class).property("talaria.transports", atClient),
        transport,
        reason);
  }

  private ConnectionInfo connect(
      ChildSpec atServer, ChildSpec atClient, NioTransport transport, Reason reason)
      throws Exception {
    Child server = atServer.arg("backlog", 16).start();
    Child client =
        atClient
            .arg("port", server.await("listening").port())
            .arg("connections", 1)
            .arg("rounds", 1)
            .start();
    client.await("connected");
    client.send("round");
    client.await("echoed");
    ConnectionInfo connection =
        Transports.await(
            client,
            c -> c.transport() == transport && c.reason() == reason,
            transport + " because of " + reason);
    if (reason == Reason.NO_UCX) { // of both: neither may say that the other has not asked
      Transports.awaitPlain(server, Reason.NO_UCX);
    }
    client.send("round");
    client.await("echoed");
    lab.stop(client, server);
    return connection;
  }

  @Test
  void ucxIsShownWithItsTransport() throws Exception {
    assumeTrue(Settings.ucxInstalled(), "no UCX here");
    ConnectionInfo connection =
        connect(Flavour.TALARIA, "ucx", "ucx", NioTransport.UCX, Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ucx ").contains("posix");
  }

  @Test
  void theClientsOrderCounts() throws Exception {
    assumeTrue(Settings.ucxInstalled(), "no UCX here");
    ConnectionInfo connection =
        connect(Flavour.TALARIA, "shm,ucx", "ucx,shm", NioTransport.UCX, Reason.SAME_HOST);
    assertThat(connection.transport()).isEqualTo(NioTransport.UCX);
  }

  @Test
  void aServerWithoutUcxGetsTheNextOne() throws Exception {
    ConnectionInfo connection =
        connect(Flavour.TALARIA, "shm", "ucx,shm", NioTransport.SHM, Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ring");
  }

  @Test
  void nothingInCommonStaysOnTcp() throws Exception {
    ConnectionInfo connection =
        connect(Flavour.TALARIA, "ucx", "shm", NioTransport.TCP, Reason.REFUSED);
    assertThat(connection.transport()).isEqualTo(NioTransport.TCP);
  }

  /** Its announcement stands only until it knows that UCX is missing. */
  @Test
  void aServerThatHasNothingElseThanAMissingUcxIsPlain() throws Exception {
    Flavour.TALARIA.assume();
    ConnectionInfo connection =
        connect(
            without(lab.child(Flavour.TALARIA, EchoServer.class))
                .property("talaria.transports", "ucx"),
            lab.child(Flavour.TALARIA, EchoClient.class).property("talaria.transports", "shm"),
            NioTransport.TCP,
            Reason.PEER_NOT_ACCELERATED);
    assertThat(connection.transport()).isEqualTo(NioTransport.TCP);
  }

  @Test
  void anOlderJavaPassesItOver() throws Exception {
    ConnectionInfo connection =
        connect(Flavour.TALARIA_17, "ucx,shm", "ucx,shm", NioTransport.SHM, Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ring");
  }

  @Test
  void anOlderJavaReachesUcxByJucx() throws Exception {
    assumeJucx();
    ConnectionInfo connection =
        connect(
            onJucx(lab.child(Flavour.TALARIA_17, EchoServer.class)),
            onJucx(lab.child(Flavour.TALARIA_17, EchoClient.class)),
            NioTransport.UCX,
            Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ucx by jucx 1.").contains("posix");
  }

  @Test
  void anOlderServerMeetsANewerClientOnUcx() throws Exception {
    assumeJucx();
    ConnectionInfo connection =
        connect(
            onJucx(lab.child(Flavour.TALARIA_17, EchoServer.class)),
            lab.child(Flavour.TALARIA, EchoClient.class).property("talaria.transports", "ucx"),
            NioTransport.UCX,
            Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ucx posix");
  }

  @Test
  void anOlderClientMeetsANewerServerOnUcx() throws Exception {
    assumeJucx();
    ConnectionInfo connection =
        connect(
            lab.child(Flavour.TALARIA, EchoServer.class).property("talaria.transports", "ucx"),
            onJucx(lab.child(Flavour.TALARIA_17, EchoClient.class)),
            NioTransport.UCX,
            Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ucx by jucx 1.");
  }

  /** Standard output is the program's: UCX would log there. */
  @Test
  void jucxWithoutItsEnvironmentIsPassedOver() throws Exception {
    assumeJucx();
    ConnectionInfo connection =
        connect(
            onJucx(lab.child(Flavour.TALARIA_17, EchoServer.class))
                .environment("UCX_LOG_FILE", null),
            onJucx(lab.child(Flavour.TALARIA_17, EchoClient.class))
                .environment("UCX_LOG_FILE", null),
            NioTransport.TCP,
            Reason.NO_UCX);
    assertThat(connection.transport()).isEqualTo(NioTransport.TCP);
  }

  private static void assumeJucx() {
    Flavour.TALARIA.assume();
    Flavour.TALARIA_17.assume();
    assumeTrue(Settings.ucxInstalled(), "no UCX here");
    assumeTrue(Settings.jucx().isPresent(), "no JUCX here");
  }

  private static ChildSpec onJucx(ChildSpec child) {
    return child.property("talaria.transports", "ucx").jucx(Settings.jucx().orElseThrow());
  }

  @Test
  void anOlderJavaWithNothingElseStaysOnTcp() throws Exception {
    ConnectionInfo connection =
        connect(Flavour.TALARIA_17, "ucx", "ucx", NioTransport.TCP, Reason.NO_UCX);
    assertThat(connection.transport()).isEqualTo(NioTransport.TCP);
  }

  @Test
  void aMissingLibraryPassesItOver() throws Exception {
    Flavour.TALARIA.assume();
    ConnectionInfo connection =
        connect(
            without(lab.child(Flavour.TALARIA, EchoServer.class)),
            without(lab.child(Flavour.TALARIA, EchoClient.class)),
            NioTransport.SHM,
            Reason.SAME_HOST);
    assertThat(connection.detail()).startsWith("ring");
  }

  private static ChildSpec without(ChildSpec child) {
    return child
        .property("talaria.transports", "ucx,shm")
        .property("talaria.ucx.library", "/nowhere/libucp.so.0");
  }
}
