// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.authentication.KeyProof;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What encryption lets through, and what not. */
@Timeout(120)
class EncryptedWireTest {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] KEY =
      "a key that both ends have, 32 by".getBytes(StandardCharsets.US_ASCII);

  private static byte[] key(String label) {
    return new KeyProof("Talaria test", 1, KEY, new byte[32], new byte[32]).secret(label);
  }

  private SocketChannel near;
  private SocketChannel far;

  @BeforeEach
  void connect() throws IOException {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      near = SocketChannel.open(listener.getLocalAddress());
      far = listener.accept();
    }
    near.configureBlocking(false);
    far.configureBlocking(false);
  }

  @AfterEach
  void close() throws IOException {
    near.close();
    far.close();
  }

  private static EncryptedWire wire(SocketChannel channel, boolean caller) {
    return new EncryptedWire(
        channel, EncryptedWire.secret(EncryptedWireTest::key, caller), NOTHING.duplicate());
  }

  private static byte[] readAll(Wire from, int bytes, int step) throws IOException {
    ByteBuffer all = ByteBuffer.allocate(bytes);
    while (all.hasRemaining()) {
      ByteBuffer part = all.slice(all.position(), Math.min(step, all.remaining()));
      int got = from.read(part);
      assertThat(got).isNotNegative();
      all.position(all.position() + got);
      Thread.onSpinWait();
    }
    return all.array();
  }

  /** More than the channel takes at once, in pieces of all sizes, in both directions. */
  @Test
  void whatGoesInComesOut() throws Exception {
    Random random = new Random(5);
    for (int way = 0; way < 2; way++) {
      EncryptedWire sender = wire(way == 0 ? near : far, way == 0);
      EncryptedWire receiver = wire(way == 0 ? far : near, way != 0);
      byte[] sent = new byte[3_000_001];
      random.nextBytes(sent);
      Thread reader = Thread.currentThread();
      Throwable[] failed = new Throwable[1];
      Thread writer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      ByteBuffer rest = ByteBuffer.wrap(sent);
                      while (rest.hasRemaining() || sender.pending()) {
                        int bytes = Math.min(rest.remaining(), 1 + random.nextInt(200_000));
                        ByteBuffer[] both = {
                          rest.slice(rest.position(), bytes / 3),
                          rest.slice(rest.position() + bytes / 3, bytes - bytes / 3)
                        };
                        rest.position(rest.position() + (int) sender.write(both));
                        sender.flush();
                      }
                    } catch (IOException | RuntimeException e) {
                      failed[0] = e;
                      reader.interrupt();
                    }
                  });
      assertThat(readAll(receiver, sent.length, 1 + random.nextInt(100_000))).isEqualTo(sent);
      writer.join();
      assertThat(failed[0]).isNull();
    }
  }

  @Test
  void nothingOnTheWayCanBeReadAndNoFrameLooksLikeAnother() throws Exception {
    EncryptedWire sender = wire(near, true);
    byte[] plain = new byte[64];
    byte[] first = bytes(sender.encrypted(ByteBuffer.wrap(plain)));
    byte[] second = bytes(sender.encrypted(ByteBuffer.wrap(plain)));
    assertThat(first).hasSize(4 + 64 + 16);
    assertThat(Arrays.copyOfRange(first, 4, 68)).isNotEqualTo(plain);
    assertThat(second).isNotEqualTo(first);
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  @Test
  void anyBitThatIsChangedIsFound() throws Exception {
    for (int bit = 0; bit < 8 * (4 + 8 + 16); bit++) {
      byte[] frame = bytes(wire(near, true).encrypted(ByteBuffer.wrap(new byte[8])));
      frame[bit / 8] ^= (byte) (1 << bit % 8);
      EncryptedWire receiver =
          new EncryptedWire(
              far, EncryptedWire.secret(EncryptedWireTest::key, false), ByteBuffer.wrap(frame));
      if (bit < 32 && length(frame) > 8 && length(frame) <= EncryptedWire.MAX_BYTES) {
        assertThat(receiver.read(ByteBuffer.allocate(100))).as("bit %d", bit).isZero(); // it waits
      } else {
        assertThatThrownBy(() -> receiver.read(ByteBuffer.allocate(100)))
            .as("bit %d", bit)
            .isInstanceOf(ProtocolException.class);
      }
    }
  }

  private static int length(byte[] frame) {
    return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
  }

  @Test
  void whatIsRepeatedLeftOutOrReflectedIsFound() throws Exception {
    EncryptedWire sender = wire(near, true);
    byte[] first = bytes(sender.encrypted(ByteBuffer.wrap(new byte[8])));
    byte[] second = bytes(sender.encrypted(ByteBuffer.wrap(new byte[8])));
    byte[][] wrong = {join(first, first), join(second, first), join(first, second, second)};
    for (byte[] each : wrong) {
      EncryptedWire receiver =
          new EncryptedWire(
              far, EncryptedWire.secret(EncryptedWireTest::key, false), ByteBuffer.wrap(each));
      assertThatThrownBy(() -> receiver.read(ByteBuffer.allocate(1000)))
          .isInstanceOf(ProtocolException.class);
    }
    EncryptedWire same =
        new EncryptedWire(
            near, EncryptedWire.secret(EncryptedWireTest::key, true), ByteBuffer.wrap(first));
    assertThatThrownBy(() -> same.read(ByteBuffer.allocate(1000)))
        .isInstanceOf(ProtocolException.class);
  }

  private static byte[] join(byte[]... parts) {
    ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(each -> each.length).sum());
    for (byte[] each : parts) {
      all.put(each);
    }
    return all.array();
  }

  @Test
  void aSessionCutOffInMidFrameIsNoEnd() throws Exception {
    byte[] frame = bytes(wire(near, true).encrypted(ByteBuffer.wrap(new byte[8])));
    EncryptedWire receiver = wire(far, false);
    assertThat(near.write(ByteBuffer.wrap(frame, 0, 20))).isEqualTo(20);
    near.shutdownOutput();
    assertThatThrownBy(
            () -> {
              while (receiver.read(ByteBuffer.allocate(100)) == 0) {
                Thread.onSpinWait();
              }
            })
        .isInstanceOf(EOFException.class);
  }

  @Test
  void theEndBetweenFramesIsOne() throws Exception {
    EncryptedWire receiver = wire(far, false);
    near.shutdownOutput();
    int got = 0;
    while (got == 0) {
      got = receiver.read(ByteBuffer.allocate(100));
    }
    assertThat(got).isEqualTo(-1);
  }
}
