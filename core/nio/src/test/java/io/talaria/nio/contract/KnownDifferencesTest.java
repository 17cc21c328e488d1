// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/** The rows of «Known differences» in docs/architecture.md: what the JDK does, and what we do. */
class KnownDifferencesTest extends Contract {
  private static final int BUFFERS_OF_A_CALL = 1024;
  private static final int MORE_THAN_A_CALL = 1500;

  KnownDifferencesTest(Variant variant) {
    super(variant);
  }

  @Test
  void aJdkChannelInOurSelectorMayBecomeBlockingOnlyAfterTheNextSelect() throws Exception {
    Selector selector = opened(variant.client().openSelector());
    Pipe pipe = variant.client().openPipe();
    opened(pipe.sink());
    opened(pipe.source());
    SelectionKey key = register(pipe.source(), selector, SelectionKey.OP_READ);
    key.cancel();
    if (talaria()) {
      assertThatThrownBy(() -> pipe.source().configureBlocking(true))
          .isInstanceOf(IllegalBlockingModeException.class);
      selector.selectNow();
    }
    pipe.source().configureBlocking(true);
    assertThat(pipe.source().isBlocking()).isTrue();
  }

  @Test
  void urgentDataIsRefused() throws Exception {
    Socket socket = pair().client.socket();
    if (talaria()) {
      assertThatThrownBy(() -> socket.sendUrgentData(1))
          .isInstanceOf(SocketException.class)
          .hasMessage("Urgent data not supported");
    } else {
      socket.sendUrgentData(1);
    }
    assertThat(socket.isClosed()).isFalse();
  }

  /** The JDK's newer versions know their own channels here, and Java 17 knows none. */
  @Test
  void streamsOfChannelsLetAWriterWaitForAReader() throws Exception {
    Pair pair = pair();
    InputStream in = Channels.newInputStream(pair.client);
    OutputStream out = Channels.newOutputStream(pair.client);
    Doing<Integer> reading = Doing.start(in::read).whenWaiting();
    Doing<Void> writing =
        Doing.start(
            () -> {
              out.write(1);
              return null;
            });
    if (talaria() || Runtime.version().feature() < 21) {
      writing.whenWaiting();
    } else {
      writing.result();
    }
    pair.server.write(bytes(1, 1));
    assertThat(reading.result()).isNotNegative();
    writing.result();
    assertThat(Bytes.read(pair.server)).isEqualTo(1);
  }

  /** A transport with other buffers may take less at once. */
  private boolean onSharedMemory() {
    return variant == Variant.ACCELERATED && System.getProperty("talaria.test.transport") == null;
  }

  @Test
  void aGatheringWriteTakesMoreBuffersThanASystemCall() throws Exception {
    Pair pair = pair();
    ByteBuffer[] many = new ByteBuffer[MORE_THAN_A_CALL];
    for (int i = 0; i < many.length; i++) {
      many[i] = bytes(1, i);
    }
    long written = pair.client.write(many);
    if (onSharedMemory()) {
      assertThat(written).isEqualTo(MORE_THAN_A_CALL);
    } else if (!talaria()) {
      assertThat(written).isEqualTo(BUFFERS_OF_A_CALL);
    }
    assertThat(Bytes.readFully(pair.server, (int) written).remaining()).isEqualTo((int) written);
  }

  @Test
  void aCloseDoesNotWaitForALingerTime() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    long written = 0;
    for (int n = 1; n > 0; written += n) {
      n = pair.client.write(ByteBuffer.allocate(1 << 16));
    }
    pair.client.configureBlocking(true);
    // With a time that is longer than a test waits, where the close does not wait for it.
    pair.client.setOption(StandardSocketOptions.SO_LINGER, onSharedMemory() ? 600 : 1);
    Doing<Void> closing =
        Doing.start(
            () -> {
              pair.client.close();
              return null;
            });
    closing.result();
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(written);
  }

  @Test
  void aResetDoesNotMakeAConnectedChannelConnectable() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    SelectionKey key =
        register(pair.client, selector, SelectionKey.OP_CONNECT | SelectionKey.OP_READ);
    pair.server.setOption(StandardSocketOptions.SO_LINGER, 0);
    pair.server.close();
    Await.until("the reset", () -> selector.selectNow() >= 0 && key.isReadable());
    if (onSharedMemory()) {
      assertThat(key.isConnectable()).isFalse();
    } else if (!talaria()) {
      assertThat(key.isConnectable()).isTrue();
    }
  }

  @Test
  void channelsNameTheirClass() throws Exception {
    assertThat(client().toString().startsWith("java.nio.channels.SocketChannel["))
        .isEqualTo(!talaria());
  }

  @Test
  void channelsNameTheDirectionsThatAreShut() throws Exception {
    SocketChannel client = pair().client;
    assertThat(client.toString()).doesNotContain("shut");
    client.shutdownOutput();
    assertThat(client.toString()).contains(" oshut").doesNotContain(" ishut");
    client.shutdownInput();
    assertThat(client.toString()).contains(" ishut oshut");
  }
}
