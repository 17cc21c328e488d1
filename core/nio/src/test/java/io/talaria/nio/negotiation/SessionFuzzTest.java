// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.doorbell.HeldDescriptors;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.memory.StableMappings;
import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.shm.ShmTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Truncated, oversized, replayed, forged and random bytes over real sockets, at both sides of a
 * session over the real transport. Seeded. Nothing may fail, hang, leak, or open a file that was
 * not offered.
 */
@Timeout(120)
class SessionFuzzTest {
  private static final int PORT = 7006;
  private static final int RING = 4096;
  private static final int SESSIONS = 1500;

  @TempDir Path temporary;

  private long mappingsBefore;
  private RecordingTransport transport;
  private Node node;
  private Path directory;
  private Path shm;
  private Path precious;
  private long descriptorsBefore;

  @BeforeEach
  void open() throws Exception {
    mappingsBefore = StableMappings.count();
    directory = temporary.resolve("run");
    shm = temporary.resolve("shm");
    transport = new RecordingTransport(shm, RING);
    node = new Node(directory, transport);
    assertThat(node.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
    precious = Files.createFile(shm.resolve("precious"));
    descriptorsBefore = HeldDescriptors.now().all();
  }

  /** Nobody makes a directory anew while the temporary one is deleted: negotiation threads stay. */
  @AfterEach
  void hold() throws Exception {
    node.hold();
  }

  /** A region as a dialling transport makes it, in a file of a name that is free. */
  private ByteBuffer region(Random random) throws IOException {
    long id = random.nextInt(5) == 0 ? random.nextLong() : ProcessFileName.nextId();
    if (random.nextInt(3) != 0) {
      byte[] content = new byte[random.nextInt(4) == 0 ? random.nextInt(50_000) : 45_056];
      if (random.nextInt(3) != 0 && content.length >= 8) {
        ByteBuffer.wrap(content)
            .order(java.nio.ByteOrder.nativeOrder())
            .putLong(0x5441_4c50_4545_5203L);
      }
      Files.write(shm.resolve(String.format("r%016x", id)), content);
    }
    return ByteBuffer.allocate(8).putLong(0, id);
  }

  private ByteBuffer frame(Random random) throws IOException {
    return Frames.any(random, PORT, () -> region(random));
  }

  /** Says this and that until the other side hangs up or there is nothing left to say. */
  private void babble(Random random, RawSession session) throws Exception {
    List<ByteBuffer> said = new ArrayList<>();
    try {
      for (int n = random.nextInt(12); n > 0; n--) {
        ByteBuffer next =
            switch (random.nextInt(8)) {
              case 0 -> Frames.noise(random, 5000);
              case 1 ->
                  said.isEmpty()
                      ? frame(random)
                      : said.get(random.nextInt(said.size())).duplicate();
              default -> Frames.damaged(random, frame(random));
            };
        said.add(next.duplicate());
        session.write(next);
      }
    } catch (IOException e) {
      // It has hung up.
    }
  }

  private void assertUnharmed() throws Exception {
    node.settle();
    node.assertNoFailure();
    assertThat(precious).exists();
  }

  private void assertNothingLeft() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (ShmTransport.liveMappings() > mappingsBefore
        || HeldDescriptors.now().all() > descriptorsBefore) {
      assertThat(System.nanoTime())
          .as(ShmTransport.liveMappings() + " mappings, " + HeldDescriptors.now())
          .isLessThan(deadline);
      Thread.sleep(10);
    }
  }

  @Test
  void theSideThatAnnouncedWithstandsWhateverDialsIt() throws Exception {
    Path announced = node.announced(PORT);
    int welcomed = 0;
    for (int i = 0; i < SESSIONS; i++) {
      Random random = new Random(i);
      FakeChannel accepted = new FakeChannel(FakeChannel.key(1 + random.nextInt(9), PORT));
      node.negotiator.accepted(accepted);
      try (RawSession session = RawSession.dial(announced)) {
        if (random.nextInt(5) != 0) {
          session.write(Wire.hello(RawSession.hello("shm", region(random))));
          if (random.nextBoolean()) {
            Frame answer = session.read();
            welcomed += answer != null && answer.type() == Wire.WELCOME ? 1 : 0;
          }
        }
        babble(random, session);
      }
      node.negotiator.closed(accepted, true, accepted.stream != null);
      if (accepted.close() != null) {
        accepted.stream.release();
      }
      assertUnharmed();
    }
    assertThat(welcomed).isBetween(1, SESSIONS);
    assertNothingLeft();

    // And it still negotiates.
    Node client = new Node(directory, new RecordingTransport(shm, RING));
    FakeChannel here = new FakeChannel(FakeChannel.key(777, PORT));
    FakeChannel there = new FakeChannel(here.key());
    node.negotiator.accepted(there);
    client.negotiator.connected(here);
    here.awaitAttached();
    there.awaitAttached();
    assertThat(here.stream.established()).isTrue();
    here.stream.release();
    there.stream.release();
  }

  @Test
  void theSideThatDialsWithstandsWhateverAnswersIt() throws Exception {
    for (int i = 0; i < SESSIONS / 5; i++) {
      Random random = new Random(i);
      FakeChannel channel = new FakeChannel(FakeChannel.key(1 + i, PORT + 1));
      try (RawSession.Listener listener = new RawSession.Listener(directory, PORT + 1)) {
        node.negotiator.connected(channel);
        try (RawSession session = listener.accept()) {
          session.expect(Wire.HELLO);
          if (random.nextInt(4) != 0) {
            session.write(RawSession.welcome(1));
            Frame offer = session.read();
            if (random.nextBoolean() && offer != null && offer.type() == Wire.OFFER) {
              ByteBuffer body = offer.body();
              session.write(
                  Frames.damaged(random, Wire.answer(Wire.id(body), ByteBuffer.allocate(0))));
            }
          }
          babble(random, session);
        }
        Files.delete(listener.path);
      }
      node.negotiator.closed(channel, false, channel.stream != null);
      if (channel.close() != null) {
        channel.stream.release();
      }
      assertUnharmed();
    }
    assertNothingLeft();
  }

  @Test
  void aSessionThatIsReplayedIsRejected() throws Exception {
    Path announced = node.announced(PORT);
    try (RawSession.Listener tapped = new RawSession.Listener(directory, PORT + 2)) {
      Node client = new Node(directory, new RecordingTransport(shm, RING));
      FakeChannel channel = new FakeChannel(FakeChannel.key(1, PORT + 2));
      client.negotiator.connected(channel);
      try (RawSession from = tapped.accept();
          RawSession to = RawSession.dial(announced)) {
        ByteBuffer hello = whole(Wire.HELLO, from.expect(Wire.HELLO));
        to.write(hello.duplicate());
        from.write(whole(Wire.WELCOME, to.expect(Wire.WELCOME)));
        try (RawSession replay = RawSession.dial(announced)) {
          replay.write(hello);
          assertThat(Wire.reason(replay.expect(Wire.REJECT))).isEqualTo(Reason.OTHER_SHM_DIR);
          replay.awaitEnd();
        }
      }
      client.hold();
    }
    assertUnharmed();
  }

  private static ByteBuffer whole(int type, ByteBuffer body) {
    return ByteBuffer.allocate(3 + body.remaining())
        .putShort((short) (1 + body.remaining()))
        .put((byte) type)
        .put(body)
        .flip();
  }
}
