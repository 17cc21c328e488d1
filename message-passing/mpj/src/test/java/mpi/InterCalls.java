// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Supplier;

/** The collectives of an inter-communicator, each done in one of the three ways there are. */
final class InterCalls {
  /** How. */
  enum Way {
    BLOCKING,
    STARTED,
    PERSISTENT
  }

  private final Intercomm inter;
  private final Way way;

  InterCalls(Intercomm inter, Way way) {
    this.inter = inter;
    this.way = way;
  }

  private void done(Runnable blocking, Supplier<Request> started, Supplier<Prequest> persistent) {
    switch (way) {
      case BLOCKING -> blocking.run();
      case STARTED -> finish(started.get());
      case PERSISTENT -> {
        Prequest request = persistent.get();
        for (int i = 0; i < 2; i++) {
          request.Start();
          finish(request);
        }
        request.Free();
      }
    }
  }

  private static void finish(Request request) {
    assertThat(request.Wait().Test_cancelled()).isFalse();
  }

  void barrier() {
    done(() -> inter.Barrier(), () -> inter.Ibarrier(), () -> inter.Barrier_init());
  }

  void bcast(Object buf, int offset, int count, Datatype type, int root) {
    done(
        () -> inter.Bcast(buf, offset, count, type, root),
        () -> inter.Ibcast(buf, offset, count, type, root),
        () -> inter.Bcast_init(buf, offset, count, type, root));
  }

  void gather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root) {
    done(
        () ->
            inter.Gather(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root),
        () ->
            inter.Igather(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root),
        () ->
            inter.Gather_init(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root));
  }

  void gatherv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcount,
      int[] displs,
      Datatype recvtype,
      int root) {
    done(
        () ->
            inter.Gatherv(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                displs,
                recvtype,
                root),
        () ->
            inter.Igatherv(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                displs,
                recvtype,
                root),
        () ->
            inter.Gatherv_init(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                displs,
                recvtype,
                root));
  }

  void scatter(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root) {
    done(
        () ->
            inter.Scatter(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root),
        () ->
            inter.Iscatter(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root),
        () ->
            inter.Scatter_init(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root));
  }

  void scatterv(
      Object sendbuf,
      int sendoffset,
      int[] sendcount,
      int[] displs,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root) {
    done(
        () ->
            inter.Scatterv(
                sendbuf,
                sendoffset,
                sendcount,
                displs,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root),
        () ->
            inter.Iscatterv(
                sendbuf,
                sendoffset,
                sendcount,
                displs,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root),
        () ->
            inter.Scatterv_init(
                sendbuf,
                sendoffset,
                sendcount,
                displs,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype,
                root));
  }

  void allgather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype) {
    done(
        () ->
            inter.Allgather(
                sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype),
        () ->
            inter.Iallgather(
                sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype),
        () ->
            inter.Allgather_init(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype));
  }

  void allgatherv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] displs,
      Datatype recvtype) {
    done(
        () ->
            inter.Allgatherv(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcounts,
                displs,
                recvtype),
        () ->
            inter.Iallgatherv(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcounts,
                displs,
                recvtype),
        () ->
            inter.Allgatherv_init(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcounts,
                displs,
                recvtype));
  }

  void alltoall(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype) {
    done(
        () ->
            inter.Alltoall(
                sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype),
        () ->
            inter.Ialltoall(
                sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype),
        () ->
            inter.Alltoall_init(
                sendbuf,
                sendoffset,
                sendcount,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                recvtype));
  }

  void alltoallv(
      Object sendbuf,
      int sendoffset,
      int[] sendcount,
      int[] sdispls,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcount,
      int[] rdispls,
      Datatype recvtype) {
    done(
        () ->
            inter.Alltoallv(
                sendbuf,
                sendoffset,
                sendcount,
                sdispls,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                rdispls,
                recvtype),
        () ->
            inter.Ialltoallv(
                sendbuf,
                sendoffset,
                sendcount,
                sdispls,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                rdispls,
                recvtype),
        () ->
            inter.Alltoallv_init(
                sendbuf,
                sendoffset,
                sendcount,
                sdispls,
                sendtype,
                recvbuf,
                recvoffset,
                recvcount,
                rdispls,
                recvtype));
  }

  void reduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      int root) {
    done(
        () -> inter.Reduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, root),
        () -> inter.Ireduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, root),
        () ->
            inter.Reduce_init(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, root));
  }

  void allreduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op) {
    done(
        () -> inter.Allreduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op),
        () -> inter.Iallreduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op),
        () -> inter.Allreduce_init(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op));
  }

  void reduceScatter(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      Datatype datatype,
      Op op) {
    done(
        () ->
            inter.Reduce_scatter(
                sendbuf, sendoffset, recvbuf, recvoffset, recvcounts, datatype, op),
        () ->
            inter.Ireduce_scatter(
                sendbuf, sendoffset, recvbuf, recvoffset, recvcounts, datatype, op),
        () ->
            inter.Reduce_scatter_init(
                sendbuf, sendoffset, recvbuf, recvoffset, recvcounts, datatype, op));
  }
}
