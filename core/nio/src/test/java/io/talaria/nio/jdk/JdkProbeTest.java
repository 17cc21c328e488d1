// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether a connection is over, or its input, by each of the two ways to ask. */
@Timeout(60)
class JdkProbeTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

  private SocketChannel channel;
  private SocketChannel peer;

  private boolean over(boolean byPoll) {
    if (!byPoll) {
      return JdkProbe.overBySelector(channel);
    }
    assumeTrue(JdkProbe.polls(), "sun.nio.ch is not open");
    return JdkProbe.overByPoll(channel);
  }

  private boolean inputOver(boolean byPoll) {
    if (!byPoll) {
      return JdkProbe.inputOverBySelector(channel);
    }
    assumeTrue(JdkProbe.polls(), "sun.nio.ch is not open");
    return JdkProbe.inputOverByPoll(channel);
  }

  @BeforeEach
  void connect() throws IOException {
    try (ServerSocketChannel listener = JdkNio.provider().openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      channel = JdkNio.provider().openSocketChannel();
      channel.connect(listener.getLocalAddress());
      channel.configureBlocking(false);
      peer = listener.accept();
    }
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
    peer.close();
  }

  private void awaitOver(boolean byPoll) {
    long start = System.nanoTime();
    while (!over(byPoll)) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.onSpinWait();
    }
  }

  private void awaitEnd() throws IOException {
    long start = System.nanoTime();
    while (channel.read(ByteBuffer.allocate(1)) >= 0) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneThatStandsIsNot(boolean byPoll) throws IOException {
    assertThat(over(byPoll)).isFalse();
    assertThat(peer.write(ByteBuffer.allocate(1))).isEqualTo(1);
    for (int read = 0; read < 1; read = channel.read(ByteBuffer.allocate(1))) {
      assertThat(over(byPoll)).as("with a byte to read, or none yet").isFalse();
      assertThat(inputOver(byPoll)).as("with a byte to read, or none yet").isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneThatHasEndedInOneDirectionIsNot(boolean byPoll) throws IOException {
    peer.shutdownOutput();
    awaitEnd();
    assertThat(over(byPoll)).isFalse();
    assertThat(inputOver(byPoll)).isTrue();
  }

  @Test
  void anInputThatEndsBehindUnreadBytesIsOver() throws IOException {
    assumeTrue(JdkProbe.polls(), "sun.nio.ch is not open");
    assertThat(peer.write(ByteBuffer.allocate(1))).isEqualTo(1);
    peer.shutdownOutput();
    long start = System.nanoTime();
    while (!inputOver(true)) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.onSpinWait();
    }
    assertThat(channel.read(ByteBuffer.allocate(2))).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneThatHasEndedInBothIs(boolean byPoll) throws IOException {
    peer.shutdownOutput();
    awaitEnd();
    channel.shutdownOutput();
    awaitOver(byPoll);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneThatIsResetIsAndTellsItsReaderAllTheSame(boolean byPoll) throws IOException {
    peer.setOption(StandardSocketOptions.SO_LINGER, 0);
    peer.close();
    awaitOver(byPoll);
    assertThat(inputOver(byPoll)).isTrue();
    assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1)))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneThatIsClosedHereIs(boolean byPoll) throws IOException {
    channel.close();
    assertThat(over(byPoll)).isTrue();
    assertThat(inputOver(byPoll)).isTrue();
  }
}
