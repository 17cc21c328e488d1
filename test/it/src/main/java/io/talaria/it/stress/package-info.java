// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Programs generated at random from a seed: processes with selectors and workers that do whatever
 * the contract of {@code java.nio.channels} allows, at any time, while every request must be
 * answered. What the test in {@code io.talaria.it.chaos} starts is {@link
 * io.talaria.it.stress.StressNode}.
 */
package io.talaria.it.stress;
