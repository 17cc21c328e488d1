// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import io.talaria.mpj.device.Payload;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes of whatever type, such as serialized objects; a receiving one grows to its message. */
public final class BytesPayload extends Payload {
  private final int type;
  private byte[] bytes;

  /**
   * For sending, or for receiving if there are no bytes.
   *
   * @param type base type of the message
   * @param bytes what to send, or null
   */
  public BytesPayload(BaseType type, byte[] bytes) {
    this.type = type.code();
    this.bytes = bytes;
  }

  /** What there is, or what came. */
  public byte[] content() {
    return bytes == null ? new byte[0] : bytes;
  }

  @Override
  public long bytes() {
    return bytes == null ? Integer.MAX_VALUE - 8 : bytes.length;
  }

  @Override
  public int typeCode() {
    return type;
  }

  @Override
  public void begin(long length) {
    bytes = new byte[(int) length];
  }

  @Override
  public void get(long at, MemorySegment to, long toOffset, int length) {
    MemorySegment.copy(bytes, (int) at, to, ValueLayout.JAVA_BYTE, toOffset, length);
  }

  @Override
  public void put(long at, MemorySegment from, long fromOffset, int length) {
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, fromOffset, bytes, (int) at, length);
  }
}
