// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The functions, structures and constants of {@code verbs.h} and {@code rdma_cma.h} as they are in
 * C: nothing is checked, pointers are longs. Not exported.
 */
package io.talaria.verbs.binding;
