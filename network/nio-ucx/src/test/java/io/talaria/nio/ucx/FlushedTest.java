// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.ucx.Itself.Connection;
import io.talaria.nio.ucx.binding.BoundWorker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stream that is closed waits for what it has sent itself, and not for others' of its engine. */
@Timeout(60)
class FlushedTest {
  private static final long PID = 4_000_007;

  /** A request that the real binding does not know. */
  private static final long REQUEST = Long.MAX_VALUE;

  @Test
  void aNoteToAStoppedPeerDelaysItsOwnStreamOnly() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    FailingBinding failing = new FailingBinding(Bindings.open());
    UcxTransport transport = new UcxTransport(false, () -> failing.binding);
    Itself itself = new Itself(transport, PID, false);
    UcxReadySet readySet = new UcxReadySet(transport);
    itself.serverReadySet = readySet; // so that both servers have one engine
    Connection stuck = itself.connect(null, new FakeOwner());
    Connection other = itself.connect(null, new FakeOwner());
    assertThat(stuck.server.engine()).isSameAs(other.server.engine());

    failing.on("poll", call -> request(call) == REQUEST ? BoundWorker.IN_PROGRESS : call.proceed());
    failing.on("sendTag", call -> REQUEST);
    stuck.server.finishOutput();
    failing.restore("sendTag");
    assertThat(stuck.server.flushed()).isFalse();

    other.server.finishOutput();
    until(() -> other.server.flushed());
    assertThat(Itself.readToTheEnd(other.client, 0)).isEqualTo(TransportStream.END);
    assertThat(stuck.server.flushed()).isFalse();

    failing.on("poll", call -> request(call) == REQUEST ? BoundWorker.OK : call.proceed());
    until(() -> stuck.server.flushed());
    failing.restore("poll");
    stuck.end();
    other.end();
    readySet.close();
  }

  private static long request(FailingBinding.Call call) {
    return (Long) call.argument(0);
  }
}
