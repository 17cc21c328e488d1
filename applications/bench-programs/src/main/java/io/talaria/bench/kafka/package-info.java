// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The benchmark {@code talaria bench kafka}. */
package io.talaria.bench.kafka;
