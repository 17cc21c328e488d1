// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What the chaos test does to its processes, and how it judges them: {@link
 * io.talaria.it.chaos.Storm} is the whole, {@link io.talaria.it.chaos.Judge} the rules.
 */
package io.talaria.it.chaos;
