// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The one benchmark engine, and the command {@code talaria bench}: see docs/bench.md. */
package io.talaria.bench;
