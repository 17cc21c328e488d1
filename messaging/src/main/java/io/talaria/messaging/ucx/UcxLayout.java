// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

/**
 * What a stream of UCX carries between two processes, little-endian.
 *
 * <pre>
 *   first   magic 8 | token 8                          the token is what the other end has asked for
 *   frames  length 4 | skipped 4 | kind 1 | priority 1 | 0 2 | number 4 | length bytes
 *   DATA, CREDIT   as on a stream of TCP, with the connection's number for the magic
 *   END     3   nothing comes behind it on this connection
 *   GONE    4   nor on any other: close the endpoint
 * </pre>
 *
 * <p>And what goes with the greeting:
 *
 * <pre>
 *   offer   about 8 | made 4 | open 1 | 0 3 | token 8 | address of the worker
 *   answer  made 4 | fresh 1 | 0 3 | token 8 | address of the worker
 *
 *   about   the incarnation of the other node that the rest is about; for another it has made none
 *   made    endpoints made for it, closed ones too; in an answer: so many were there before a fresh one
 *   open    whether the last of them is
 *   fresh   whether another one is to be made; else the one there is goes on
 *   token   what a fresh one's stream is to begin with
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
