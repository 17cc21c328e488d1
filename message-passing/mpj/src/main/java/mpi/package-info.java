// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The mpiJava 1.2 API: message passing in the style of MPI. {@link mpi.MPI#Init} first, {@link
 * mpi.MPI#Finalize} last, {@link mpi.MPI#COMM_WORLD} in between.
 *
 * <p>Names and signatures are mpiJava's. Buffers are one-dimensional arrays of primitive types,
 * arrays of serializable objects with {@link mpi.MPI#OBJECT}, and also {@link
 * java.lang.foreign.MemorySegment} and {@link java.nio.ByteBuffer}; offsets and counts are in
 * elements. All calls may be made by any thread. Errors throw {@link mpi.MPIException}, which names
 * the argument, its value and what is allowed.
 */
package mpi;
