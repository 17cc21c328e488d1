// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The examples and application benchmarks that {@code talaria} is given by this module. */
package io.talaria.workloads;
