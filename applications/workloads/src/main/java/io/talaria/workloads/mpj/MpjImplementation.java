// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import com.fasterxml.jackson.annotation.JsonValue;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.UcxPerftest;
import java.util.List;

/** A way to pass messages between processes. */
enum MpjImplementation implements Implementation {
  /** {@code shmdev}. */
  SHM("shm", "mpj on rings in shared memory (shmdev)"),
  /** {@code shmdev} with a thread in each rank that makes progress. */
  SHM_PROGRESS("shm-progress", "shm with -progress-thread in all ranks"),
  /** {@code ucxdev}. */
  UCX("ucx", "mpj on UCX (ucxdev), UCX_TLS=" + UcxPerftest.SHARED_MEMORY),
  /** {@code niodev}. */
  NIO("nio", "mpj on connections (niodev), without the agent"),
  /** {@code niodev} with the agent. */
  NIO_AGENT("nio-agent", "mpj on connections (niodev), with the agent in all ranks"),
  /** Open MPI on its own shared memory. */
  OMPI_OB1("ompi-ob1", "Open MPI in C, pml ob1"),
  /** Open MPI on UCX. */
  OMPI_UCX("ompi-ucx", "Open MPI in C, pml ucx, UCX_TLS=" + UcxPerftest.SHARED_MEMORY),
  /** MPICH. */
  MPICH("mpich", "MPICH in C"),
  /** MPJ Express inside one JVM. */
  EXPRESS("express", "MPJ Express multicore, the same class file; its ranks are threads"),
  /** MPJ Express on connections. */
  EXPRESS_NIO("express-nio", "MPJ Express niodev, the same class file"),
  /** UCX's own benchmark. */
  PERFTEST("perftest", "ucx_perftest, tag_lat and tag_bw, UCX_TLS=" + UcxPerftest.SHARED_MEMORY),
  /** A connection of the JDK's. */
  SOCKETS("sockets", "a SocketChannel of the JDK's whose both ends spin");

  static final List<MpjImplementation> OWN = List.of(SHM, SHM_PROGRESS, UCX, NIO, NIO_AGENT);
  static final List<MpjImplementation> BASELINES =
      List.of(OMPI_OB1, OMPI_UCX, MPICH, EXPRESS, EXPRESS_NIO, PERFTEST, SOCKETS);

  /** MPI in C, and which of it ours is held against. */
  static final List<MpjImplementation> OPEN_MPI = List.of(OMPI_OB1, OMPI_UCX);

  private final String word;
  private final String description;

  MpjImplementation(String word, String description) {
    this.word = word;
    this.description = description;
  }

  /**
   * Returns whether it can do this.
   *
   * @param pattern what is done
   * @param ranks by how many
   */
  boolean does(MpjPattern pattern, int ranks) {
    return switch (this) {
      case SHM, UCX, NIO -> true;
      case SHM_PROGRESS -> pattern == MpjPattern.OVERLAP;
      // It waits for its transport, which is not part of a start.
      case NIO_AGENT -> pattern != MpjPattern.START;
      case OMPI_OB1, OMPI_UCX, MPICH -> pattern.programInC() != null;
      case EXPRESS ->
          pattern != MpjPattern.SEGMENTS && pattern != MpjPattern.MEMORY && !pattern.oneSided();
      case EXPRESS_NIO -> pattern != MpjPattern.SEGMENTS && !pattern.oneSided();
      case PERFTEST ->
          ranks == 2
              && (pattern == MpjPattern.HALF
                  || pattern == MpjPattern.RATE
                  || pattern == MpjPattern.BYTES);
      case SOCKETS -> ranks == 2 && pattern == MpjPattern.HALF;
    };
  }

  String description() {
    return description;
  }

  /** Returns the word that users write. */
  @Override
  @JsonValue
  public String label() {
    return word;
  }

  /** Returns false: what is measured is message passing, not sockets. */
  @Override
  public boolean onTalaria() {
    return false;
  }

  /** Returns the {@link #label}. */
  @Override
  public String toString() {
    return word;
  }
}
