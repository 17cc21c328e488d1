// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.Channels;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.junit.jupiter.api.Test;

/** The rows of «Known differences» in docs/architecture.md: what the JDK does, and what we do. */
class KnownDifferencesTest extends Contract {
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
}
