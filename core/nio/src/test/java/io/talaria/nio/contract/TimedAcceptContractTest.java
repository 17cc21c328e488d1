// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Socket;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import org.junit.jupiter.api.Test;

/** Accepting with a time-out, through the socket of a channel, and interrupts. */
class TimedAcceptContractTest extends Contract {
  TimedAcceptContractTest(Variant variant) {
    super(variant);
  }

  @Test
  void anInterruptOfATimedAcceptClosesTheChannel() throws Exception {
    ServerSocketChannel listener = listener();
    listener.socket().setSoTimeout(20_000);
    Doing<Socket> accepting = Doing.start(() -> listener.socket().accept()).whenWaiting();
    accepting.interrupt();
    assertThat(accepting.failure()).isInstanceOf(ClosedByInterruptException.class);
    assertThat(listener.isOpen()).isFalse();
    assertThat(listener.socket().isClosed()).isTrue();
  }

  @Test
  void aTimedAcceptOfAnInterruptedThreadClosesTheChannel() throws Exception {
    ServerSocketChannel listener = listener();
    listener.socket().setSoTimeout(20_000);
    Doing<Socket> accepting =
        Doing.start(
            () -> {
              Thread.currentThread().interrupt();
              return listener.socket().accept();
            });
    assertThat(accepting.failure()).isInstanceOf(ClosedByInterruptException.class);
    assertThat(listener.isOpen()).isFalse();
  }

  @Test
  void aTimedAcceptOfAClosedChannelSaysThatItWasClosed() throws Exception {
    ServerSocketChannel listener = listener();
    listener.socket().setSoTimeout(20_000);
    listener.close();
    assertThatThrownBy(() -> listener.socket().accept())
        .isInstanceOf(AsynchronousCloseException.class);
  }
}
