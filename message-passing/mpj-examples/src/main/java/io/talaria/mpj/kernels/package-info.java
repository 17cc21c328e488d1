// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Kernels of the NAS Parallel Benchmarks, written from NASA's reports for the mpiJava API: the same
 * class files run on other libraries with that API. Each verifies its result in every run against
 * the official values, and ends with status 1 if it is wrong.
 */
package io.talaria.mpj.kernels;
