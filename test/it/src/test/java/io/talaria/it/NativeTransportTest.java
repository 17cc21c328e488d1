// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.BothTransports;
import io.talaria.it.programs.EchoClient;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What docs/configuration.md says of native transports: the agent takes them away from a whole
 * process, and a program that keeps them may choose for each listener.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class NativeTransportTest {
  private static final String PROPERTY = "io.grpc.netty.shaded.io.netty.transport.noNative";

  private static final int MAX_ROUNDS = 1000;

  @RegisterExtension final Lab lab = new Lab();

  @Test
  void theAgentTakesTheNativeTransportAway() throws Exception {
    Pair.BOTH.assume();
    Child server = lab.child(Flavour.TALARIA, BothTransports.class).start();
    assertThat(server.await("listening").number("epoll")).isZero();
    lab.stop(server);
  }

  @Test
  void whoKeepsItChoosesForEachListener() throws Exception {
    Pair.BOTH.assume();
    choosesForEachListener(
        lab.child(Flavour.TALARIA, BothTransports.class).property(PROPERTY, "false").start());
  }

  /** It used to end with an UnsatisfiedLinkError. */
  @Test
  void whoNamesTheNativeTransportGetsIt() throws Exception {
    Pair.BOTH.assume();
    assumeTrue(
        System.getProperty("os.arch").equals("amd64"), "gRPC's Netty may have no epoll here");
    Child server = lab.child(Flavour.TALARIA, BothTransports.class).arg("epoll", "named").start();
    server.awaitLog("asks for Netty's native transport by name");
    choosesForEachListener(server);
  }

  private void choosesForEachListener(Child server) throws Exception {
    Event listening = server.await("listening");
    int epoll = (int) listening.number("epoll");
    assumeTrue(epoll != 0, "gRPC's Netty has no epoll for this processor");
    Child fast = client(listening.port());
    Child plain = client(epoll);
    plain.send("round");
    plain.await("echoed");
    for (int i = 0;
        i < MAX_ROUNDS && Transports.of(fast).get(0).transport() != NioTransport.SHM;
        i++) {
      fast.send("round"); // each direction switches with bytes
      fast.await("echoed");
    }
    Transports.await(fast, NioTransport.SHM, Reason.SAME_HOST);
    Transports.awaitPlain(plain, Reason.PEER_NOT_ACCELERATED);
    assertThat(Transports.of(server)).as("of the listener on NIO alone").hasSize(1);
    lab.stop(fast, plain, server);
  }

  private Child client(int port) throws Exception {
    Child client = lab.child(Flavour.TALARIA, EchoClient.class).arg("port", port).start();
    client.await("connected");
    return client;
  }
}
