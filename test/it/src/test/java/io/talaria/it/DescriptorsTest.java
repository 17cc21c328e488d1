// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Pauper;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process without a free descriptor: its connections stay on TCP and say that a limit is the
 * reason; once descriptors are free, the next connection is accelerated.
 */
@Timeout(value = 90, unit = TimeUnit.SECONDS)
@Tag("alone")
class DescriptorsTest {
  private static final String LIMITED = "ulimit -n 300 && exec \"$@\"";
  private static final int WAITING_MS = 2000;
  private static final int ASLEEP_MS = 30;

  @RegisterExtension final Lab lab = new Lab();

  private Child pauper(Flavour flavour) throws Exception {
    ChildSpec child =
        lab.child(flavour, Pauper.class)
            .property("java.util.logging.config.file", everythingIsLogged());
    return child.under("sh", "-c", LIMITED, "sh").start();
  }

  /** Also what works: the test waits for that. */
  private Path everythingIsLogged() throws Exception {
    return Files.writeString(
        lab.scratch().resolve("logging.properties"),
        """
        handlers=java.util.logging.ConsoleHandler
        java.util.logging.ConsoleHandler.level=FINE
        io.talaria.nio.level=FINE
        """);
  }

  private Child rich(Flavour flavour) throws Exception {
    return lab.child(flavour, Pauper.class).start();
  }

  private static int listen(Child server) throws Exception {
    server.send("listen");
    return server.await("listening").port();
  }

  /** Makes a connection; gives the client's port. */
  private static int connect(Child client, Child server, int serverPort) throws Exception {
    client.send("connect " + serverPort);
    int port = client.await("connected").port();
    server.send("accept");
    server.await("accepted");
    return port;
  }

  private static void move(Child from, Child to, int port) throws Exception {
    from.send("write " + port);
    from.await("moved");
    to.send("read " + port);
    to.await("moved");
  }

  private static void isFast(Child client, Child server, int port) throws Exception {
    long startNs = System.nanoTime();
    do {
      move(client, server, port);
      move(server, client, port);
    } while (!shows(client, port, NioTransport.SHM, Reason.SAME_HOST)
        && System.nanoTime() - startNs < Duration.ofSeconds(10).toNanos());
    await(client, port, NioTransport.SHM, Reason.SAME_HOST);
  }

  private static boolean shows(Child child, int port, NioTransport transport, Reason reason)
      throws Exception {
    return Transports.of(child).stream().anyMatch(is(port, transport, reason));
  }

  private static void await(Child child, int port, NioTransport transport, Reason reason)
      throws Exception {
    String what = transport.code() + " because of " + reason.code() + " at port " + port;
    Transports.await(child, is(port, transport, reason), what);
  }

  private static Predicate<ConnectionInfo> is(int port, NioTransport transport, Reason reason) {
    return c ->
        (c.local().getPort() == port || c.remote().getPort() == port)
            && c.transport() == transport
            && c.reason() == reason;
  }

  /** Leaves a process one descriptor less. */
  private static void take(Child child) throws Exception {
    child.send("take 1");
    child.await("taken");
  }

  private static void free(Child child) throws Exception {
    child.send("free");
    child.await("freed");
  }

  /**
   * Waits until one process has made a file of shared memory and its peer, which takes the name
   * away whether it can open the file or not, has tried.
   */
  private static void awaitTried(WatchService files) throws InterruptedException {
    Set<Object> made = new HashSet<>();
    while (true) {
      WatchKey key = files.poll(Child.PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
      assertThat(key).as("a file that one makes and the other tries to open").isNotNull();
      for (WatchEvent<?> event : key.pollEvents()) {
        if (event.kind() == StandardWatchEventKinds.ENTRY_CREATE) {
          made.add(event.context());
        } else if (made.contains(event.context())) {
          return;
        }
      }
      key.reset();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TALARIA", "TALARIA_17"})
  void aClient(Flavour flavour) throws Exception {
    Child known = rich(flavour);
    Child unknown = rich(flavour);
    Child client = pauper(flavour);
    int knownPort = listen(known);
    int unknownPort = listen(unknown);
    isFast(client, known, connect(client, known, knownPort));

    take(client);
    int withoutSlab = connect(client, known, knownPort); // the first slab is of one connection
    await(client, withoutSlab, NioTransport.TCP, Reason.LIMIT);
    take(client);
    int withoutSession = connect(client, unknown, unknownPort);
    await(client, withoutSession, NioTransport.TCP, Reason.LIMIT);
    move(client, unknown, withoutSession);

    free(client);
    isFast(client, known, connect(client, known, knownPort));
    isFast(client, unknown, connect(client, unknown, unknownPort));
    lab.stop(client, known, unknown);
  }

  @ParameterizedTest
  @EnumSource(names = {"TALARIA", "TALARIA_17"})
  void aServer(Flavour flavour) throws Exception {
    Child server = pauper(flavour);
    Child client = rich(flavour);
    Child stranger = rich(flavour);
    int port = listen(server);
    isFast(client, server, connect(client, server, port));

    // The first slab is of one connection. The server hears of the next one's before it accepts it,
    // and must not have for that slab the descriptor that it needs to accept.
    server.send("take 0");
    server.await("taken");
    try (WatchService files = lab.shmDir().getFileSystem().newWatchService()) {
      lab.shmDir()
          .register(
              files, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
      client.send("connect " + port);
      int withoutSlab = client.await("connected").port();
      awaitTried(files);
      server.send("free 1");
      server.await("freed");
      server.send("accept");
      server.await("accepted");
      await(server, withoutSlab, NioTransport.TCP, Reason.LIMIT);
      await(client, withoutSlab, NioTransport.TCP, Reason.LIMIT);
    }

    // Somebody waits for the negotiation thread, which must not look for him all the time.
    stranger.send("connect " + port);
    stranger.await("connected");
    long cpuMs = Proc.cpuMs(server);
    Thread.sleep(WAITING_MS);
    assertThat(Proc.cpuMs(server) - cpuMs).isLessThan(WAITING_MS / 2);

    free(server);
    server.send("accept");
    server.await("accepted");
    isFast(stranger, server, connect(stranger, server, port));
    isFast(client, server, connect(client, server, port));
    lab.stop(client, stranger, server);
  }

  /** Who finds no doorbell to sleep on sleeps on the control connection. */
  @ParameterizedTest
  @EnumSource(names = {"TALARIA", "TALARIA_17"})
  void aReader(Flavour flavour) throws Exception {
    Child server = rich(flavour);
    Child client = pauper(flavour);
    int port = connect(client, server, listen(server));
    isFast(client, server, port);
    client.send("take 0");
    client.await("taken");
    for (int i = 0; i < 10; i++) {
      client.send("read " + port);
      Thread.sleep(ASLEEP_MS);
      server.send("write " + port);
      server.await("moved");
      client.await("moved");
    }
    lab.stop(client, server);
  }

  /** A listener that could not announce itself does so when it can. */
  @ParameterizedTest
  @EnumSource(names = {"TALARIA", "TALARIA_17"})
  void aListener(Flavour flavour) throws Exception {
    Child server = pauper(flavour);
    Child client = rich(flavour);
    server.awaitLog(listen(server) + " is announced"); // logging wants descriptors to begin
    take(server);
    int port = listen(server);
    server.awaitLog(port + " is limit");
    free(server);
    server.awaitLog(port + " is announced");
    isFast(client, server, connect(client, server, port));
    lab.stop(client, server);
  }
}
