// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The benchmark {@code talaria bench mpj}: message passing from Java beside MPI in C. */
package io.talaria.mpj.bench;
