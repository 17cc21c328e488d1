// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.Matched;
import io.talaria.mpj.device.Operation;
import java.lang.foreign.MemorySegment;

/** A message that came before its receive: its data, or the announcement of them. */
final class Arrival extends Matched {
  final int source;
  final int context;
  final int tag;
  final int type;
  final long bytes;

  /** The data of an eager message; null if they are still at the sender. */
  final MemorySegment data;

  /** The sender's number, or -1 if it waits for no answer. */
  final long id;

  /** The sender, if that is this rank. */
  final Operation local;

  /** Where the sender has exposed the data, and the key to them; -1 if it has not. */
  long remoteAddress;

  long remoteKey = -1;

  Arrival nextOfAll;
  Arrival previousOfAll;
  Arrival nextOfSource;
  Arrival previousOfSource;

  Arrival(
      int source,
      int context,
      int tag,
      int type,
      long bytes,
      MemorySegment data,
      long id,
      Operation local) {
    this.source = source;
    this.context = context;
    this.tag = tag;
    this.type = type;
    this.bytes = bytes;
    this.data = data;
    this.id = id;
    this.local = local;
  }

  void describe(Operation out) {
    out.fromSource = source;
    out.fromTag = tag;
    out.fromType = type;
    out.bytes = bytes;
    out.sentBytes = bytes;
  }
}
