// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * {@code talaria bench mpj}: message passing from Java beside MPI in C and other libraries.
 *
 * <p>The command starts no rank itself: each implementation's own launcher does, in processes of
 * their own ({@link io.talaria.workloads.mpj.MpjLaunch}). What runs as ranks is {@link
 * io.talaria.workloads.mpj.Ranks}, by the mpiJava API alone, and the same in C, {@code ranks.c};
 * and the kernels of {@code io.talaria.mpj.kernels}, each also in C, {@code ep.c} for {@code Ep}.
 */
package io.talaria.workloads.mpj;
