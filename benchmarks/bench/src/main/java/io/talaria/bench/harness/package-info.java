// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What all measuring commands share: pairs of child JVMs and the talk with them, histograms,
 * spreads over iterations, and the description of the machine.
 *
 * <p>The parent orders and reports, the children measure. A child is told what to do by one line of
 * JSON on its standard input and answers by lines on its standard output; the end of its standard
 * input means that the parent is gone.
 */
package io.talaria.bench.harness;
