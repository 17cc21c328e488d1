// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;

/** One side's half of an upgrade to UCX. */
final class UcxUpgrade implements Upgrade {
  private final UcxStream stream;

  /** Why it cannot be used though the peer agrees; or null. */
  private Reason refused;

  UcxUpgrade(UcxStream stream) {
    this.stream = stream;
  }

  @Override
  public ByteBuffer payload() {
    return UcxMessages.place(stream.token(), stream.engine().address());
  }

  @Override
  public void answered(ByteBuffer payload) throws TransportException {
    try {
      stream.reaches(UcxMessages.place(payload));
    } catch (TransportException e) {
      stream.cancel();
      throw e;
    }
    try {
      stream.connect(); // in any case: the peer has made its endpoint, and UCX counts
      stream.lookHowItGoes();
    } catch (TransportException e) {
      stream.peer().unreachable(e.getMessage());
      refused = e.reason(); // ours, and not the peer's: its other connections continue
    }
  }

  @Override
  public Reason worthless() {
    if (refused != null) {
      return refused;
    }
    return stream.peer().byTcpOnly() ? Reason.UCX_TCP_ONLY : null;
  }

  @Override
  public TransportStream stream() {
    return stream;
  }

  @Override
  public void cancel(Reason reason) {
    stream.cancel();
  }
}
