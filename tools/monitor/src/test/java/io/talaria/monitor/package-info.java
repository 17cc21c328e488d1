// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Ports and counters, on trees that stand for {@code /sys}. */
package io.talaria.monitor;
