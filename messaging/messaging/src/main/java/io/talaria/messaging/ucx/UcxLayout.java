// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

/**
 * Describes what a UCX stream carries between two processes, little-endian.
 *
 * <pre>
 *   first   magic 8 | token 8                          the token that the other end has asked for
 *   frames  length 4 | skipped 4 | kind 1 | priority 1 | 0 2 | number 4 | length bytes
 *   DATA, CREDIT   as on a stream of TCP, with the connection's number for the magic
 *   END     3   nothing more is sent on this connection
 *   GONE    4   nor on any other: close the endpoint
 * </pre>
 *
 * <p>And what the handshake carries:
 *
 * <pre>
 *   offer   about 8 | made 4 | open 1 | 0 3 | token 8 | address of the worker
 *   answer  made 4 | fresh 1 | 0 3 | token 8 | address of the worker
 *
 *   about   the incarnation of the other node to which the rest applies; for another, made is 0
 *   made    endpoints made for it, closed ones too; in an answer: their number before a fresh one
 *   open    whether the last of them is open
 *   fresh   whether to make another endpoint; otherwise the existing one is used
 *   token   with which the stream of a fresh endpoint must begin
 * </pre>
 */
final class UcxLayout {
  /** "TalUcx1", and 0. */
  static final long MAGIC = 0x5461_6c55_6378_3100L;

  static final int PREFACE_BYTES = 16;
  static final int HEADER_BYTES = 16;
  static final int CREDIT_FRAME_BYTES = 40;
  static final int MAX_HEAD_BYTES = 40;
  static final int LENGTH = 0;
  static final int KIND = 8;
  static final int NUMBER = 12;

  static final byte DATA = 1;
  static final byte CREDIT = 2;
  static final byte END = 3;
  static final byte GONE = 4;

  static final int OFFER_BYTES = 24;
  static final int ANSWER_BYTES = 16;

  private UcxLayout() {}
}
