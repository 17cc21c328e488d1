// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.harness.Quantity;

/** A case with its table. */
interface MessagesShown extends BenchmarkCase {
  /** Returns the name for machines of what is shown. */
  String measure();

  /** Returns what is shown. */
  Quantity quantity();

  /** Returns the name for machines of what was timed one by one; null if nothing was. */
  String times();
}
