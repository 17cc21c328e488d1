// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the benchmarks of programs. */
package io.talaria.bench.programs;
