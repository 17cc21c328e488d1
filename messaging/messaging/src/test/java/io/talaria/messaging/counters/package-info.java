// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what a node shows of itself. */
package io.talaria.messaging.counters;
