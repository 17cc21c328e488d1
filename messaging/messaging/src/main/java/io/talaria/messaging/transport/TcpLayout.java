// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

/**
 * Describes what a stream carries after the handshake, little-endian.
 *
 * <pre>
 *   DATA    length 4 | skipped 4 | kind 1 = 1 | priority 1 | 0 2 | magic 4 | length bytes of whole records
 *   CREDIT  24 4     | 0 4       | kind 1 = 2 | 0 1    | 0 2 | magic 4 | data head 8 | control head 8 | delivered 8
 *
 *   skipped   bytes of pads in the ring behind the records, which are not sent
 *   head      position up to which the receiver's copy of that ring is free again
 *   delivered position of the data ring up to which all was handed to the program
 * </pre>
 */
public final class TcpLayout {
  static final int HEADER_BYTES = 16;
  static final int LENGTH = 0;
  static final int SKIPPED = 4;
  static final int KIND = 8;
  static final int PRIORITY = 9;
  static final int MAGIC_AT = 12;
  static final int MAGIC = 0x67734d54;
  static final byte DATA = 1;
  static final byte CREDIT = 2;
  static final int CREDIT_BYTES = 24;
  static final int CREDIT_FRAME_BYTES = HEADER_BYTES + CREDIT_BYTES;

  /** The maximum bytes of records in a frame, unless a single record is longer. */
  static final int MAX_DATA = 64 << 10;

  private TcpLayout() {}
}
