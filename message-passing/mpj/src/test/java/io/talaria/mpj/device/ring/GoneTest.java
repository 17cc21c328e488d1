// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Waiting;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a rank that is gone has left at another. */
@Timeout(60)
class GoneTest {
  private static Engine engine(ThreadHub hub, int rank) {
    return new Engine(new RingDevice(hub.area(), rank, 3, 65536, 1000, 1 << 20), Waiting.ASLEEP);
  }

  @Test
  void whatItHasAnnouncedKeepsNoReceiveFromTheOthers() {
    ThreadHub hub = new ThreadHub(3);
    try (Engine zero = engine(hub, 0);
        Engine one = engine(hub, 1);
        Engine two = engine(hub, 2)) {
      byte[] large = new byte[5000];
      assertThat(one.isend(large, BaseType.BYTE, 0, large.length, 0, 5, 0, false)).isNotNull();
      assertThat(zero.iprobe(1, 5, 0, new Operation())).isTrue();
      zero.ended(1, "it was killed");
      zero.members(0, new int[] {0, 2}); // As by Ack_failed.
      assertThat(zero.iprobe(Device.ANY_SOURCE, 5, 0, new Operation())).isFalse();
      Operation receive = zero.irecv(new byte[8], BaseType.BYTE, 0, 8, Device.ANY_SOURCE, 5, 0);
      assertThat(zero.test(receive)).isFalse();
      assertThat(two.isend(new byte[8], BaseType.BYTE, 0, 8, 0, 5, 0, false)).isNull();
      int source = zero.finish(receive, op -> op.failure == null ? op.fromSource : -1);
      assertThat(source).isEqualTo(2);
    }
  }

  @Test
  void whoWaitedForItNoLongerSaysThatItWaits() throws Exception {
    ThreadHub hub = new ThreadHub(3);
    try (Engine zero = engine(hub, 0)) {
      RankPages pages = new RankPages(hub.area().pages(), 3);
      AtomicReference<RuntimeException> thrown = new AtomicReference<>();
      Thread waiter =
          new Thread(
              () -> {
                try {
                  zero.probe(1, 5, 0, new Operation());
                } catch (RuntimeException e) {
                  thrown.set(e);
                }
              });
      waiter.start();
      while (pages.waitsFor(0) != 1) {
        Thread.sleep(1);
      }
      zero.ended(1, "it was killed");
      waiter.join();
      assertThat(thrown.get()).isInstanceOf(RankGoneException.class);
      assertThat(pages.waitsFor(0)).isEqualTo(-1);
    }
  }
}
