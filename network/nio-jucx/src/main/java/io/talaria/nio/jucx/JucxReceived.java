// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.Received;
import java.nio.ByteBuffer;
import java.util.Objects;

/** The block of an endpoint whose receive is done. */
final class JucxReceived implements Received {
  private JucxEndpoint endpoint;
  private ByteBuffer bytes;
  private int length;

  void hold(JucxEndpoint from, ByteBuffer block, int count) {
    if (endpoint != null) {
      throw new IllegalStateException("it holds " + length + " bytes: release it first");
    }
    endpoint = from;
    bytes = block;
    length = count;
  }

  @Override
  public byte byteAt(int offset) {
    return bytes.get(Objects.checkIndex(offset, length));
  }

  @Override
  public void copyTo(int offset, byte[] to, int toOffset, int count) {
    Objects.checkFromIndexSize(offset, count, length);
    bytes.get(offset, to, toOffset, count);
  }

  @Override
  public void copyTo(int offset, ByteBuffer to, int count) {
    Objects.checkFromIndexSize(offset, count, length);
    Objects.checkFromIndexSize(0, count, to.remaining());
    int at = to.position();
    to.put(at, bytes, offset, count);
    to.position(at + count);
  }

  @Override
  public void release() {
    JucxEndpoint from = endpoint;
    if (from != null) {
      endpoint = null;
      bytes = null;
      length = 0;
      from.taken();
    }
  }
}
