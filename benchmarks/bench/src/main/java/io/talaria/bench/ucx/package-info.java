// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code talaria bench ucx}: a plan over the engine. UCX from Java beside {@code
 * ucx_perftest}, operation by operation and size by size; an {@link io.talaria.bench.ucx.Operation}
 * is a {@link io.talaria.bench.plan.BindingKind} and the test that does the same in C.
 */
package io.talaria.bench.ucx;
