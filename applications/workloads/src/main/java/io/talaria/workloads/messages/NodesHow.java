// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.IdleStrategy;
import java.util.Locale;

/**
 * How nodes send and receive.
 *
 * @param threads how many of each node send
 * @param handlers how many threads receive; 0: as many as usual
 * @param dispatch on which threads, and in which order
 * @param reuse whether objects are used again and again, at both ends
 * @param idleStrategy what pollers do while nothing comes
 */
record NodesHow(
    int threads, int handlers, Dispatch dispatch, boolean reuse, IdleStrategy idleStrategy) {
  /** The defaults. */
  static final NodesHow USUAL = new NodesHow(1, 0, Dispatch.INLINE, false, IdleStrategy.ADAPTIVE);

  /** The same with another idle strategy. */
  NodesHow with(IdleStrategy other) {
    return new NodesHow(threads, handlers, dispatch, reuse, other);
  }

  /** The same with so many sending threads. */
  NodesHow with(int other) {
    return new NodesHow(other, handlers, dispatch, reuse, idleStrategy);
  }

  /** Whether all but the number of threads is as usual. */
  boolean onlyThreads() {
    return equals(USUAL.with(threads));
  }

  /** Behind a label: a comma, and what is not as usual; or nothing. */
  String label() {
    StringBuilder text = new StringBuilder();
    if (threads != 1) {
      text.append(", ").append(threads).append(" threads");
    }
    if (dispatch != Dispatch.INLINE) {
      text.append(", ").append(dispatch.name().toLowerCase(Locale.ROOT));
    }
    if (handlers != 0) {
      text.append(", ").append(handlers).append(" handlers");
    }
    return text.append(reuse ? ", reused" : "").append(label(idleStrategy)).toString();
  }

  /** A comma and the word for it; nothing for the usual one. */
  static String label(IdleStrategy idleStrategy) {
    return idleStrategy == IdleStrategy.ADAPTIVE
        ? ""
        : ", " + idleStrategy.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The {@link #label()} for machines. */
  String id() {
    return label().replace(", ", "/").replace(' ', '-');
  }
}
