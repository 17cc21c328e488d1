// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import io.talaria.nio.ucx.binding.Received;
import io.talaria.ucx.StreamChunk;
import java.nio.ByteBuffer;

/** A chunk of the module {@code ucx}. */
final class FfmReceived implements Received {
  final StreamChunk chunk = new StreamChunk();

  @Override
  public byte byteAt(int offset) {
    return chunk.byteAt(offset);
  }

  @Override
  public void copyTo(int offset, byte[] to, int toOffset, int count) {
    chunk.copyTo(offset, to, toOffset, count);
  }

  @Override
  public void copyTo(int offset, ByteBuffer to, int count) {
    chunk.copyTo(offset, to, count);
  }

  @Override
  public void release() {
    chunk.release();
  }
}
