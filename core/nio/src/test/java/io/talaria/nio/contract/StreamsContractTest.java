// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stands on channels: the streams of {@code Channels}, and transfers from and to files. */
class StreamsContractTest extends Contract {
  @TempDir Path dir;

  StreamsContractTest(Variant variant) {
    super(variant);
  }

  private FileChannel file(ByteBuffer content) throws IOException {
    FileChannel file =
        opened(
            FileChannel.open(
                dir.resolve("f"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE));
    file.write(content.duplicate());
    return file;
  }

  // ---- Channels

  @Test
  void anInputStreamReadsTheChannel() throws Exception {
    Pair pair = pair();
    InputStream in = Channels.newInputStream(pair.server);
    pair.client.write(bytes(100, 1));
    assertThat(in.read()).isEqualTo(bytes(100, 1).get(0) & 0xff);
    byte[] rest = in.readNBytes(99);
    assertThat(ByteBuffer.wrap(rest)).isEqualTo(bytes(100, 1).position(1).slice());
    pair.client.close();
    assertThat(in.read()).isEqualTo(-1);
  }

  @Test
  void anOutputStreamWritesAll() throws Exception {
    Pair pair = pair();
    OutputStream out = Channels.newOutputStream(pair.client);
    ByteBuffer all = bytes(6 << 20, 1);
    byte[] array = new byte[6 << 20];
    all.get(0, array);
    Doing<ByteBuffer> reader = Doing.start(() -> readFully(pair.server, 6 << 20));
    out.write(array);
    assertThat(reader.result().equals(all)).isTrue();
    out.write(7);
    assertThat(readFully(pair.server, 1).get(0)).isEqualTo((byte) 7);
  }

  @Test
  void closingAStreamClosesTheChannel() throws Exception {
    Pair pair = pair();
    Channels.newInputStream(pair.client).close();
    assertThat(pair.client.isOpen()).isFalse();
    Channels.newOutputStream(pair.server).close();
    assertThat(pair.server.isOpen()).isFalse();
  }

  @Test
  void streamsOfAClosedChannelFail() throws Exception {
    Pair pair = pair();
    InputStream in = Channels.newInputStream(pair.client);
    OutputStream out = Channels.newOutputStream(pair.client);
    pair.client.close();
    assertThatThrownBy(in::read).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void streamsAreForBlockingChannels() throws Exception {
    Pair pair = pair();
    InputStream in = Channels.newInputStream(pair.client);
    OutputStream out = Channels.newOutputStream(pair.client);
    pair.client.configureBlocking(false);
    assertThatThrownBy(in::read).isInstanceOf(IllegalBlockingModeException.class);
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(IllegalBlockingModeException.class);
  }

  @Test
  void aCloseEndsAReadOfAStreamInProgress() throws Exception {
    Pair pair = pair();
    InputStream in = Channels.newInputStream(pair.client);
    Doing<Integer> reading = Doing.start(in::read).whenWaiting();
    pair.client.close();
    assertThat(reading.failure()).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void anInputStreamTransfersToAnOutputStream() throws Exception {
    Pair from = pair();
    Pair to = pair();
    Doing<Long> transfer =
        Doing.start(
            () -> {
              long n =
                  Channels.newInputStream(from.server)
                      .transferTo(Channels.newOutputStream(to.client));
              to.client.shutdownOutput();
              return n;
            });
    Doing<Integer> writer =
        Doing.start(
            () -> {
              int n = from.client.write(bytes(3 << 20, 1));
              from.client.shutdownOutput();
              return n;
            });
    assertThat(readFully(to.server, 3 << 20).equals(bytes(3 << 20, 1))).isTrue();
    assertThat(read(to.server)).isEqualTo(-1);
    assertThat(writer.result()).isEqualTo(3 << 20);
    assertThat(transfer.result()).isEqualTo(3L << 20);
  }

  @Test
  void linesTravelThroughReadersAndWriters() throws Exception {
    Pair pair = pair();
    Writer out = Channels.newWriter(pair.client, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(Channels.newReader(pair.server, StandardCharsets.UTF_8));
    out.write("Ταλάρια\nwings\n");
    out.flush();
    assertThat(in.readLine()).isEqualTo("Ταλάρια");
    assertThat(in.readLine()).isEqualTo("wings");
    pair.client.close();
    assertThat(in.readLine()).isNull();
  }

  // ---- files

  @Test
  void aFileIsTransferredToAConnection() throws Exception {
    Pair pair = pair();
    FileChannel file = file(bytes(3 << 20, 1));
    Doing<ByteBuffer> reader = Doing.start(() -> readFully(pair.server, 3 << 20));
    long n = 0;
    while (n < 3 << 20) {
      long step = file.transferTo(n, (3 << 20) - n, pair.client);
      assertThat(step).isPositive();
      n += step;
    }
    assertThat(reader.result().equals(bytes(3 << 20, 1))).isTrue();
  }

  @Test
  void aPartOfAFileIsTransferred() throws Exception {
    Pair pair = pair();
    FileChannel file = file(bytes(10_000, 1));
    assertThat(file.transferTo(100, 1000, pair.client)).isEqualTo(1000);
    assertThat(readFully(pair.server, 1000)).isEqualTo(bytes(10_000, 1).slice(100, 1000));
    assertThat(file.transferTo(9_500, 1000, pair.client)).isEqualTo(500);
    assertThat(file.transferTo(20_000, 10, pair.client)).isZero();
    assertThat(readFully(pair.server, 500)).isEqualTo(bytes(10_000, 1).slice(9_500, 500));
  }

  @Test
  void aTransferToAFullNonBlockingConnectionTakesWhatHasRoom() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    long filled = Bytes.fill(pair.client);
    FileChannel file = file(bytes(1 << 20, 1));
    long n = file.transferTo(0, 1 << 20, pair.client);
    assertThat(n).isBetween(0L, 1L << 20);
    readFully(pair.server, (int) filled);
    assertThat(readFully(pair.server, (int) n).equals(bytes(1 << 20, 1).limit((int) n))).isTrue();
  }

  @Test
  void aTransferToAClosedConnectionFails() throws Exception {
    Pair pair = pair();
    FileChannel file = file(bytes(100, 1));
    pair.client.close();
    assertThatThrownBy(() -> file.transferTo(0, 100, pair.client))
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aFileIsTransferredFromAConnection() throws Exception {
    Pair pair = pair();
    FileChannel file = file(ByteBuffer.allocate(0));
    Doing<Integer> writer = Doing.start(() -> pair.client.write(bytes(1 << 20, 1)));
    long n = 0;
    while (n < 1 << 20) {
      n += file.transferFrom(pair.server, n, (1 << 20) - n);
    }
    assertThat(writer.result()).isEqualTo(1 << 20);
    ByteBuffer got = ByteBuffer.allocate(1 << 20);
    while (got.hasRemaining()) {
      assertThat(file.read(got, got.position())).isPositive();
    }
    assertThat(got.flip().equals(bytes(1 << 20, 1))).isTrue();
  }

  @Test
  void aTransferFromANonBlockingConnectionTakesWhatIsThere() throws Exception {
    Pair pair = pair();
    FileChannel file = file(ByteBuffer.allocate(0));
    pair.server.configureBlocking(false);
    assertThat(file.transferFrom(pair.server, 0, 100)).isZero();
    pair.client.write(bytes(50, 1));
    Await.readable(pair.server);
    assertThat(file.transferFrom(pair.server, 0, 100)).isEqualTo(50);
    assertThat(file.size()).isEqualTo(50);
  }

  @Test
  void aTransferFromAnEndedConnectionIsZero() throws Exception {
    Pair pair = pair();
    FileChannel file = file(ByteBuffer.allocate(0));
    pair.client.write(bytes(10, 1));
    pair.client.close();
    Await.readable(pair.server);
    long n = 0;
    while (n < 10) {
      n += file.transferFrom(pair.server, n, 100);
    }
    assertThat(file.transferFrom(pair.server, n, 100)).isZero();
    assertThat(file.size()).isEqualTo(10);
  }

  @Test
  void aConnectionIsCopiedToAnotherThroughABuffer() throws Exception {
    Pair from = pair();
    Pair to = pair();
    from.client.write(bytes(20_000, 1));
    from.client.shutdownOutput();
    ByteBuffer buffer = ByteBuffer.allocateDirect(1024);
    while (from.server.read(buffer.clear()) >= 0) {
      Bytes.writeFully(to.client, buffer.flip());
    }
    assertThat(readFully(to.server, 20_000)).isEqualTo(bytes(20_000, 1));
  }
}
