// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a server answers to messages one way, however they arrive. */
class SinkHandlerTest {
  private final EmbeddedChannel channel = new EmbeddedChannel(new FirstByteHandler());

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  @Test
  void theFirstByteAloneHasNoAnswer() {
    receive(new byte[] {FirstByteHandler.SINK});
    assertThat(answers()).isZero();
  }

  @Test
  void eachRunHasOneAnswerAtItsEnd() {
    receive(new byte[] {FirstByteHandler.SINK, 0, 0, 0});
    receive(new byte[] {0, 0, 0, 0, 3, 7});
    assertThat(answers()).isZero();
    receive(new byte[] {7, 7});
    assertThat(answers()).isEqualTo(1);
    receive(new byte[] {0, 0, 0, 0, 0, 0, 0, 1});
    assertThat(answers()).isZero();
    receive(new byte[] {7});
    assertThat(answers()).isEqualTo(1);
  }

  private void receive(byte[] bytes) {
    channel.writeInbound(Unpooled.wrappedBuffer(bytes));
  }

  private int answers() {
    int bytes = 0;
    for (ByteBuf answer = channel.readOutbound(); answer != null; answer = channel.readOutbound()) {
      bytes += answer.readableBytes();
      answer.release();
    }
    return bytes;
  }
}
