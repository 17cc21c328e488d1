// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The benchmark {@code talaria bench netty}. */
package io.talaria.workloads.netty;
