// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The core of the Yahoo! Cloud Serving Benchmark, driving a store on both transports: its
 * workloads, its client threads and its exporters, with a clock in nanoseconds beside it.
 */
package io.talaria.workloads.ycsb;
