// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.verbs.Context;
import io.talaria.verbs.QueuePair;

/** What the package of RDMA CM needs of the other one and programs must not have. */
public interface Internals {
  /**
   * The one object for a context that RDMA CM has opened.
   *
   * @param pointer an {@code ibv_context}
   */
  Context borrow(long pointer);

  /** Opens a queue pair for an identifier of RDMA CM. */
  QueuePair open(QueuePair.Builder options, long cmId);

  /** Refuses a queue pair whose context is another one. */
  void requireContext(Context context, QueuePair.Builder options);

  /** Sets the implementation of these methods; called once. */
  static void set(Internals internals) {
    Holder.internals = internals;
  }

  /** Returns the implementation of these methods. */
  static Internals get() {
    if (Holder.internals == null) {
      try {
        Class.forName(Holder.NAME, true, Internals.class.getClassLoader()); // calls set
      } catch (ClassNotFoundException e) {
        throw new LinkageError(e.getMessage(), e);
      }
    }
    return Holder.internals;
  }

  /** The one there is. */
  final class Holder {
    private static final String NAME = "io.talaria.verbs.Handles";
    private static volatile Internals internals;

    private Holder() {}
  }
}
