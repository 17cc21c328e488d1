// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import java.util.Map;

/**
 * What an implementation's ranks have found.
 *
 * @param figures one for each size, in the unit of the pattern's quantity
 * @param communication percent of a kernel's time that went into messages; NaN if it was not told
 */
record MpjFound(Map<Integer, Double> figures, double communication) {
  static final MpjFound NOTHING = new MpjFound(Map.of(), Double.NaN);

  /** Copies the map. */
  MpjFound {
    figures = Map.copyOf(figures);
  }
}
