// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EventDescriptorTest {
  @Test
  void aSignalLastsUntilItIsCleared() {
    try (EventDescriptor event = new EventDescriptor();
        Epoll epoll = new Epoll()) {
      epoll.add(event.descriptor());
      assertThat(epoll.await(0)).isFalse();
      event.signal();
      event.signal();
      assertThat(epoll.await(0)).isTrue();
      assertThat(epoll.await(-1)).isTrue();
      event.clear();
      assertThat(epoll.await(0)).isFalse();
      event.clear();
    }
  }

  @Test
  void aSleepingThreadIsWoken() throws Exception {
    try (EventDescriptor event = new EventDescriptor();
        Epoll epoll = new Epoll()) {
      epoll.add(event.descriptor());
      Thread sleeper = new Thread(() -> assertThat(epoll.await(-1)).isTrue());
      sleeper.start();
      event.signal();
      sleeper.join(TimeUnit.SECONDS.toMillis(30));
      assertThat(sleeper.isAlive()).isFalse();
    }
  }
}
