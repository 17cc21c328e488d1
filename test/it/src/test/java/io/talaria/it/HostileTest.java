// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Announced;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Frames;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.EchoClient;
import io.talaria.it.programs.EchoServer;
import io.talaria.nio.NioTransport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Whatever arrives at the negotiation socket, a server goes on: its accelerated connections work,
 * new ones are accelerated, plain ones stay on TCP and right, nothing leaks, and no file is touched
 * that is not Talaria's.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HostileTest {
  private static final int CONNECTIONS = 2;

  @RegisterExtension final Lab lab = new Lab();

  private final Random chance = new Random(2);
  private Child server;
  private Child client;
  private int port;
  private Announced announced;
  private int descriptors;

  @BeforeEach
  void connect() throws Exception {
    server = lab.child(Flavour.TALARIA, EchoServer.class).start();
    port = server.await("listening").port();
    announced = Announced.await(lab.talariaDir(), port);
    client = echoClient();
    assertEchoes(client);
    descriptors = Proc.descriptorsButDoorbells(server);
  }

  private Child echoClient() throws Exception {
    Child child =
        lab.child(Flavour.TALARIA, EchoClient.class)
            .arg("port", port)
            .arg("connections", CONNECTIONS)
            .arg("rounds", 200)
            .start();
    child.await("connected");
    return child;
  }

  /** The connections of a client work and are accelerated, and no select has returned in vain. */
  private void assertEchoes(Child echoing) throws Exception {
    echoing.send("round");
    assertThat(echoing.await("echoed").number("spurious")).isZero();
    Transports.awaitAll(
        echoing, c -> c.transport() == NioTransport.SHM, CONNECTIONS, "accelerated");
  }

  private void assertUnharmed() throws Exception {
    assertEchoes(client);
    Child another = echoClient();
    assertEchoes(another);
    lab.stop(another);
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (Proc.descriptorsButDoorbells(server) > descriptors + 1
        && System.nanoTime() < deadlineNs) {
      Thread.sleep(20);
    }
    assertThat(Proc.descriptorsButDoorbells(server))
        .as("descriptors")
        .isLessThanOrEqualTo(descriptors + 1);
    lab.stop(client, server);
  }

  @Test
  void randomBytes() throws Exception {
    for (int i = 0; i < 2000; i++) {
      byte[] noise = new byte[1 + chance.nextInt(1 + chance.nextInt(5000))];
      chance.nextBytes(noise);
      announced.provoke(ByteBuffer.wrap(noise));
    }
    assertUnharmed();
  }

  /** Right lengths and right types get random bytes past the first checks. */
  @Test
  void randomFrames() throws Exception {
    for (int i = 0; i < 1000; i++) {
      ByteBuffer frames = ByteBuffer.allocate(64 << 10);
      if (i % 2 == 0) {
        frames.put(Frames.hello(place(Frames.region())));
      }
      for (int n = chance.nextInt(10); n >= 0; n--) {
        byte[] body = new byte[chance.nextInt(1 + chance.nextInt(200))];
        chance.nextBytes(body);
        frames.putShort((short) (1 + body.length)).put((byte) chance.nextInt(10)).put(body);
      }
      announced.provoke(frames.flip());
    }
    removeOwnFiles();
    assertUnharmed();
  }

  @Test
  void lengthsOutOfRange() throws Exception {
    for (int length : new int[] {0, 2049, 4096, 32_768, 65_535}) {
      announced.provoke(ByteBuffer.allocate(70_000).putShort(0, (short) length));
    }
    assertUnharmed();
  }

  @Test
  void everyPrefixOfAGreeting() throws Exception {
    ByteBuffer hello = Frames.hello(place(Frames.region()));
    for (int length = 0; length < hello.limit(); length++) {
      announced.provoke(hello.duplicate().limit(length));
    }
    removeOwnFiles();
    assertUnharmed();
  }

  @Test
  void greetingsFromElsewhere() throws Exception {
    announced.provoke(Frames.hello(Frames.VERSION + 1, "boot", 1));
    announced.provoke(Frames.hello(Frames.VERSION, "00000000-0000-0000-0000-000000000000", 1));
    announced.provoke(Frames.hello(Frames.VERSION, "", 1));
    assertUnharmed();
  }

  /** Nobody waits for ever for somebody who says nothing. */
  @Test
  void silence() throws Exception {
    List<SocketChannel> silent = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      silent.add(announced.dial());
    }
    assertEchoes(client);
    for (SocketChannel session : silent) {
      Announced.awaitHangUp(session);
      session.close();
    }
    assertUnharmed();
  }

  @Test
  void replayedSession() throws Exception {
    byte[] said =
        announced.tap(
            () -> {
              Child tapped = echoClient();
              assertEchoes(tapped);
              lab.stop(tapped);
            });
    assertThat(said.length).as("what a client says").isGreaterThan(100);
    for (int i = 0; i < 200; i++) {
      int length = i < 100 ? said.length : 1 + chance.nextInt(said.length);
      announced.provoke(ByteBuffer.wrap(said, 0, length));
    }
    for (int i = 0; i < 1000; i++) {
      byte[] changed = said.clone();
      for (int n = chance.nextInt(4); n >= 0; n--) {
        changed[chance.nextInt(changed.length)] = (byte) chance.nextInt(256);
      }
      announced.provoke(ByteBuffer.wrap(changed));
    }
    assertUnharmed();
  }

  /** Names that lead to other files: missing, too short, a link, a pipe, a directory. */
  @Test
  void filesThatAreNotTalarias() throws Exception {
    byte[] content = new byte[Frames.SLAB_BYTES];
    Path secret = Files.write(lab.scratch().resolve("secret"), content);
    Files.write(secret, Frames.region(), StandardOpenOption.WRITE);
    byte[] before = Files.readAllBytes(secret);
    for (int i = 0; i < 5; i++) {
      long id = ownId();
      Path name = file(id);
      switch (i) {
        case 0 -> Files.write(name, new byte[1]);
        case 1 -> Files.createSymbolicLink(name, secret);
        case 2 -> Proc.run("mkfifo", name.toString());
        case 3 -> Files.createDirectory(name);
        default -> {}
      }
      announced.provoke(Frames.hello(id));
      try (SocketChannel session = greeted()) {
        Announced.send(session, Frames.slab(i % 2 == 0 ? 0 : chance.nextInt(300), id));
        Announced.send(session, Frames.offer(1, someone(1), listener(), 0));
        Announced.send(session, Frames.grow(0, id, 65_536));
      }
      Files.deleteIfExists(name);
    }
    assertThat(secret).as("another's file").exists().hasBinaryContent(before);
    removeOwnFiles();
    assertUnharmed();
  }

  /** Offers for connections that do not exist, or that are already accelerated. */
  @Test
  void offersForOthersConnections() throws Exception {
    InetSocketAddress accelerated = Transports.of(client).get(0).local();
    try (SocketChannel session = greeted()) {
      for (int id = 1; id <= 1000; id++) {
        InetSocketAddress of = id % 10 == 0 ? accelerated : someone(1 + chance.nextInt(65_000));
        InetSocketAddress to = id % 7 == 0 ? someone(port + 1) : listener();
        Announced.send(session, Frames.offer(id, of, to, id));
        if (id % 100 == 0) {
          Announced.send(session, Frames.slab(id / 100, chance.nextLong()));
        }
        if (id % 3 == 0) {
          Announced.send(session, Frames.withdraw(chance.nextInt(2 * id)));
        }
      }
      assertEchoes(client);
    }
    removeOwnFiles();
    assertUnharmed();
  }

  /** Somebody claims a plain program's connection, and then does nothing: it goes on as it was. */
  @Test
  void claimedConnectionOfAPlainProgram() throws Exception {
    try (Socket plain = plainConnection()) {
      try (SocketChannel session = claim(plain, place(Frames.region()), place(Frames.slab()))) {
        assertPlainEcho(plain);
        assertThat(session.isOpen()).isTrue();
      }
      assertPlainEcho(plain);
    }
    removeOwnFiles();
    assertUnharmed();
  }

  /**
   * Memory that both sides have mapped is taken away: that may cost the connection it was for, and
   * nothing else.
   */
  @Test
  void memoryTakenAway() throws Exception {
    long region = place(Frames.region());
    long slab = place(Frames.slab());
    try (Socket plain = plainConnection();
        FileChannel regionFile = FileChannel.open(file(region), StandardOpenOption.WRITE);
        FileChannel slabFile = FileChannel.open(file(slab), StandardOpenOption.WRITE);
        SocketChannel session = claim(plain, region, slab)) {
      slabFile.truncate(0);
      regionFile.truncate(0);
      plain.getOutputStream().write(1);
      assertEchoes(client);
      assertThat(session.isOpen()).isTrue();
    }
    removeOwnFiles();
    assertUnharmed();
  }

  private Socket plainConnection() throws IOException {
    Socket plain = new Socket("127.0.0.1", port);
    plain.setSoTimeout(10_000);
    assertPlainEcho(plain);
    return plain;
  }

  /** A session that has offered an upgrade of another's connection, and got an answer. */
  private SocketChannel claim(Socket plain, long region, long slab) throws IOException {
    SocketChannel session = announced.dial();
    Announced.send(session, Frames.hello(region));
    awaitFrame(session);
    Announced.send(session, Frames.slab(0, slab));
    awaitFrame(session);
    InetSocketAddress own = (InetSocketAddress) plain.getLocalSocketAddress();
    Announced.send(session, Frames.offer(1, own, listener(), 0));
    awaitFrame(session);
    return session;
  }

  private static void assertPlainEcho(Socket plain) throws IOException {
    byte[] message = new byte[100];
    for (int i = 0; i < 50; i++) {
      java.util.Arrays.fill(message, (byte) i);
      plain.getOutputStream().write(message);
      assertThat(plain.getInputStream().readNBytes(100)).isEqualTo(message);
    }
    assertThat(plain.getInputStream().available()).isZero();
  }

  /** After all of this, an ordinary exchange still works from the first byte. */
  @Test
  void floodOfSessions() throws Exception {
    for (int i = 0; i < 3000; i++) {
      announced.dial().close();
    }
    new Exchange(lab, Pair.BOTH).run().end();
    assertUnharmed();
  }

  /** A session that has got past the greeting. */
  private SocketChannel greeted() throws IOException {
    SocketChannel session = announced.dial();
    Announced.send(session, Frames.hello(place(Frames.region())));
    awaitFrame(session);
    return session;
  }

  private static void awaitFrame(SocketChannel session) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(4096);
    assertThat(session.read(frame)).as("an answer").isPositive();
  }

  private static InetSocketAddress someone(int port) {
    return new InetSocketAddress("127.0.0.1", port % 65_536);
  }

  private InetSocketAddress listener() {
    return someone(port);
  }

  private Path file(long id) {
    return lab.shmDir().resolve(String.format("r%016x", id));
  }

  /** A number for a file, as this process would give it. */
  private long ownId() {
    return ProcessHandle.current().pid() << 42 | chance.nextLong() >>> 22;
  }

  /** Puts a file of this test's where the server looks for files. */
  private long place(byte[] content) throws IOException {
    long id = ownId();
    Files.write(file(id), content);
    return id;
  }

  /** What the server has not unlinked belongs to this test. */
  private void removeOwnFiles() throws IOException {
    try (var files = Files.list(lab.shmDir())) {
      for (Path own : files.toList()) {
        Files.delete(own);
      }
    }
  }
}
