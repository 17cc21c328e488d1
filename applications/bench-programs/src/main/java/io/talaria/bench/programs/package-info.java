// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The benchmark {@code talaria bench programs}. */
package io.talaria.bench.programs;
