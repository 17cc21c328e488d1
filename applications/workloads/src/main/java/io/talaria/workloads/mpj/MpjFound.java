// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import java.util.Map;

/**
 * What an implementation's ranks have found.
 *
 * @param figures one for each size, in the unit of the pattern's quantity
 * @param fastest the same of the fastest block; none if there are no blocks
 * @param communication percent of a kernel's time that went into messages; NaN if it was not told
 */
record MpjFound(Map<Integer, Double> figures, Map<Integer, Double> fastest, double communication) {
  /** Copies the maps. */
  MpjFound {
    figures = Map.copyOf(figures);
    fastest = Map.copyOf(fastest);
  }
}
