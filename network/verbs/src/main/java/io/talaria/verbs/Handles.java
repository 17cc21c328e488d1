// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.Internals;

/** What the package of RDMA CM may do here. {@link Internals} loads it by its name. */
final class Handles implements Internals {
  static {
    Internals.set(new Handles());
  }

  @Override
  public Context borrow(long pointer) {
    return Context.borrow(pointer);
  }

  @Override
  public QueuePair open(QueuePair.Builder options, long cmId) {
    return options.open(cmId);
  }

  @Override
  public void requireContext(Context context, QueuePair.Builder options) {
    options.require(context);
  }
}
