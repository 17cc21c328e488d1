// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Message passing between JVMs: the mpiJava 1.2 API on devices of its own.
 *
 * <p>Programs use the package {@code mpi}; {@code io.talaria.mpj.device} is for who writes a
 * device.
 */
module io.talaria.mpj {
  requires io.talaria.ffi;
  requires io.talaria.nio;
  requires io.talaria.ucx;
  requires io.talaria.verbs;

  exports mpi;
  exports io.talaria.mpj.device;
}
