// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Blocks;
import io.talaria.mpj.collective.Call;
import io.talaria.mpj.collective.Reduction;
import io.talaria.mpj.collective.Team;
import io.talaria.mpj.collective.TwoGroups;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import java.util.Arrays;
import java.util.function.Consumer;

/** A communicator of two groups: messages go to ranks of the other one. */
public class Intercomm extends Comm {
  private final Group remote;
  private final Intracomm local;

  /** The rank of this side's leader in its group. */
  private final int leader;

  /** Whether this side's leader has the lower number in the job. */
  private final boolean first;

  private final int remoteLeader;
  private final TwoGroups groups;

  private Intercomm(
      World world, Intracomm local, Group remote, int id, int leader, int remoteLeader) {
    super(world, local.Group(), id);
    this.local = local;
    this.remote = remote;
    this.leader = leader;
    this.remoteLeader = remoteLeader;
    this.first = local.Group().world(leader) < remote.world(remoteLeader);
    Team others =
        Team.ofOthers(
            world.engine(),
            local.Rank(),
            remote.worldRanks(),
            2 * id + 1,
            world.settings().algorithms());
    this.groups = new TwoGroups(local.team(), others, leader, remoteLeader);
  }

  @Override
  Group peers() {
    return remote;
  }

  @Override
  public boolean Test_inter() throws MPIException {
    return true;
  }

  /** Number of ranks in the other group. */
  public int Remote_size() throws MPIException {
    return remote.Size();
  }

  /** The other group. */
  public Group Remote_group() throws MPIException {
    return remote;
  }

  /** The leaders' way to each other: of their communicator, or of this one. */
  private record Bridge(Comm comm, int peer, int tag) {
    long[] exchange(long[] out) {
      int[] length = {0};
      comm.Sendrecv(
          new int[] {out.length}, 0, 1, MPI.INT, peer, tag, length, 0, 1, MPI.INT, peer, tag);
      long[] in = new long[length[0]];
      comm.Sendrecv(out, 0, out.length, MPI.LONG, peer, tag, in, 0, in.length, MPI.LONG, peer, tag);
      return in;
    }
  }

  /** An id that is free at all ranks of both sides. */
  private static int agree(Intracomm local, int leader, Bridge bridge) {
    boolean leads = local.Rank() == leader;
    return local
        .world()
        .ids()
        .agree(
            local.id(),
            map -> {
              long[] both = local.and(map);
              if (leads) {
                long[] theirs = bridge.exchange(both);
                for (int i = 0; i < both.length; i++) {
                  both[i] &= theirs[i];
                }
              }
              local.Bcast(both, 0, both.length, MPI.LONG, leader);
              return both;
            });
  }

  static Intercomm create(Comm peerComm, Intracomm local, int leader, int remoteLeader, int tag) {
    if (leader < 0 || leader >= local.Size()) {
      throw new MPIException(
          MPIException.ERR_RANK,
          "local leader " + leader + ": 0 to " + (local.Size() - 1) + " is allowed");
    }
    boolean leads = local.Rank() == leader;
    Bridge bridge = new Bridge(peerComm, remoteLeader, tag);
    long[] theirs = {};
    if (leads) {
      int[] mine = local.Group().worldRanks();
      long[] out = new long[mine.length + 1];
      out[0] = leader;
      for (int i = 0; i < mine.length; i++) {
        out[i + 1] = mine[i];
      }
      theirs = bridge.exchange(out);
    }
    int[] length = {theirs.length};
    local.Bcast(length, 0, 1, MPI.INT, leader);
    if (!leads) {
      theirs = new long[length[0]];
    }
    local.Bcast(theirs, 0, theirs.length, MPI.LONG, leader);
    int[] members = new int[theirs.length - 1];
    for (int i = 0; i < members.length; i++) {
      members[i] = (int) theirs[i + 1];
    }
    Group remote = new Group(members, local.engine().rank());
    int[] both = mpi.Group.Intersection(local.Group(), remote).worldRanks();
    if (both.length > 0) {
      // All ranks of both sides see the same, so all of them throw.
      throw new MPIException(
          MPIException.ERR_GROUP,
          "ranks " + Arrays.toString(both) + " of COMM_WORLD are on both sides: none may be");
    }
    int id = agree(local, leader, bridge);
    // The local side keeps a communicator of its own, for what this one does later.
    return new Intercomm(local.world(), local.Dup(), remote, id, leader, (int) theirs[0]);
  }

  /**
   * Makes one group of the two; collective over both.
   *
   * @param high whether this side's ranks come behind; the same at all of a side
   */
  public Intracomm Merge(boolean high) throws MPIException {
    boolean leads = local.Rank() == leader;
    Bridge bridge = new Bridge(this, remoteLeader, 0);
    long[] theirs = {0};
    if (leads) {
      theirs = bridge.exchange(new long[] {high ? 1 : 0});
    }
    local.Bcast(theirs, 0, 1, MPI.LONG, leader);
    boolean theyAreHigh = theirs[0] != 0;
    int id = agree(local, leader, bridge);
    boolean before = high == theyAreHigh ? first : !high;
    Group mine = Group();
    Group all = before ? mpi.Group.Union(mine, remote) : mpi.Group.Union(remote, mine);
    return new Intracomm(world(), all, id);
  }

  @Override
  public Object clone() throws MPIException {
    int id = agree(local, leader, new Bridge(this, remoteLeader, 0));
    return new Intercomm(world(), local.Dup(), remote, id, leader, remoteLeader);
  }

  @Override
  public void Free() throws MPIException {
    super.Free();
    local.Free();
  }

  // Collectives: what has a root goes from one group to the other. The root passes MPI.ROOT, the
  // other ranks of its group PROC_NULL, those of the other group its rank.

  private void run(Consumer<TwoGroups> collective) {
    world();
    try {
      collective.accept(groups);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  private int root(int root) {
    if (root == MPI.ROOT) {
      return TwoGroups.ROOT;
    }
    if (root == MPI.PROC_NULL) {
      return TwoGroups.ROOT_IS_BESIDE;
    }
    if (root < 0 || root >= remote.Size()) {
      throw new MPIException(
          MPIException.ERR_ROOT,
          "root "
              + root
              + ": MPI.ROOT, PROC_NULL, or 0 to "
              + (remote.Size() - 1)
              + " in the other group is allowed");
    }
    return root;
  }

  /** Blocks of different lengths, for or from each rank of the other group. */
  private Blocks blocks(
      Object buf, int offset, int[] counts, int[] places, Datatype type, boolean in) {
    Object buffer = Buffers.normal(buf, type);
    Layout layout = committed(type);
    int n = remote.Size();
    if (counts == null || places == null || counts.length < n || places.length < n) {
      throw new MPIException(
          MPIException.ERR_COUNT,
          "counts and displacements: one for each of the "
              + n
              + " ranks of the other group is needed");
    }
    for (int i = 0; i < n; i++) {
      long at = offset + (long) places[i] * layout.extent();
      Buffers.checkCollective(buffer, at, counts[i], layout, type, in);
    }
    return new Blocks(buffer, offset, counts, places, layout);
  }

  /** Equal blocks: one behind the other, or the same for all. */
  private Blocks blocks(
      Object buf, int offset, int count, Datatype type, boolean same, boolean in) {
    int n = remote.Size();
    int[] counts = new int[n];
    int[] places = new int[n];
    Arrays.fill(counts, count);
    if (!same) {
      Arrays.setAll(places, i -> Buffers.toInt((long) i * count, "displacement"));
    }
    return blocks(buf, offset, counts, places, type, in);
  }

  /** Returns when all ranks of the other group have called it. */
  public void Barrier() throws MPIException {
    run(TwoGroups::barrier);
  }

  /** Brings the root's elements to all of the other group. */
  public void Bcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    int from = root(root);
    Object buffer = Buffers.normal(buf, type);
    Layout layout =
        from == TwoGroups.ROOT_IS_BESIDE
            ? null
            : from == TwoGroups.ROOT
                ? Intracomm.outgoing(buffer, offset, count, type)
                : Intracomm.incoming(buffer, offset, count, type);
    run(groups -> groups.bcast(buffer, offset, count, layout, from));
  }

  /** Elements of all of a group come to the root in the other one. */
  public void Gather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root)
      throws MPIException {
    int at = root(root);
    Blocks out = at >= 0 ? blocks(sendbuf, sendoffset, sendcount, sendtype, true, false) : null;
    Blocks in =
        at == TwoGroups.ROOT ? blocks(recvbuf, recvoffset, recvcount, recvtype, false, true) : null;
    run(groups -> groups.gather(Call.GATHER, out, in, at));
  }

  /** As Gather, with parts of different lengths. */
  public void Gatherv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] displs,
      Datatype recvtype,
      int root)
      throws MPIException {
    int at = root(root);
    Blocks out = at >= 0 ? blocks(sendbuf, sendoffset, sendcount, sendtype, true, false) : null;
    Blocks in =
        at == TwoGroups.ROOT
            ? blocks(recvbuf, recvoffset, recvcounts, displs, recvtype, true)
            : null;
    run(groups -> groups.gather(Call.GATHERV, out, in, at));
  }

  /** The root's elements are dealt out to the other group. */
  public void Scatter(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root)
      throws MPIException {
    int at = root(root);
    Blocks out =
        at == TwoGroups.ROOT
            ? blocks(sendbuf, sendoffset, sendcount, sendtype, false, false)
            : null;
    Blocks in = at >= 0 ? blocks(recvbuf, recvoffset, recvcount, recvtype, true, true) : null;
    run(groups -> groups.scatter(Call.SCATTER, out, in, at));
  }

  /** As Scatter, with parts of different lengths. */
  public void Scatterv(
      Object sendbuf,
      int sendoffset,
      int[] sendcounts,
      int[] displs,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root)
      throws MPIException {
    int at = root(root);
    Blocks out =
        at == TwoGroups.ROOT
            ? blocks(sendbuf, sendoffset, sendcounts, displs, sendtype, false)
            : null;
    Blocks in = at >= 0 ? blocks(recvbuf, recvoffset, recvcount, recvtype, true, true) : null;
    run(groups -> groups.scatter(Call.SCATTERV, out, in, at));
  }

  /** Elements of all of each group come to all of the other. */
  public void Allgather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype)
      throws MPIException {
    Blocks out = blocks(sendbuf, sendoffset, sendcount, sendtype, true, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcount, recvtype, false, true);
    run(groups -> groups.exchange(Call.ALLGATHER, out, in));
  }

  /** As Allgather, with parts of different lengths. */
  public void Allgatherv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] displs,
      Datatype recvtype)
      throws MPIException {
    Blocks out = blocks(sendbuf, sendoffset, sendcount, sendtype, true, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcounts, displs, recvtype, true);
    run(groups -> groups.exchange(Call.ALLGATHERV, out, in));
  }

  /** Each rank sends each of the other group a part of its own. */
  public void Alltoall(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype)
      throws MPIException {
    Blocks out = blocks(sendbuf, sendoffset, sendcount, sendtype, false, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcount, recvtype, false, true);
    run(groups -> groups.exchange(Call.ALLTOALL, out, in));
  }

  /** As Alltoall, with parts of different lengths. */
  public void Alltoallv(
      Object sendbuf,
      int sendoffset,
      int[] sendcounts,
      int[] sdispls,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] rdispls,
      Datatype recvtype)
      throws MPIException {
    Blocks out = blocks(sendbuf, sendoffset, sendcounts, sdispls, sendtype, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcounts, rdispls, recvtype, true);
    run(groups -> groups.exchange(Call.ALLTOALLV, out, in));
  }

  /** Combines elements of all of a group to the root in the other one. */
  public void Reduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      int root)
      throws MPIException {
    int at = root(root);
    if (at == TwoGroups.ROOT_IS_BESIDE) {
      run(groups -> groups.reduce(null, 0, null, 0, 0, null, null, at));
      return;
    }
    boolean isRoot = at == TwoGroups.ROOT;
    Object send = isRoot ? null : Buffers.normal(sendbuf, datatype);
    Object recv = isRoot ? Buffers.normal(recvbuf, datatype) : null;
    Layout layout =
        isRoot
            ? Intracomm.incoming(recv, recvoffset, count, datatype)
            : Intracomm.outgoing(send, sendoffset, count, datatype);
    Reduction reduction = Intracomm.operation(op, layout);
    run(groups -> groups.reduce(send, sendoffset, recv, recvoffset, count, layout, reduction, at));
  }

  /** Combines elements of all of each group to all of the other. */
  public void Allreduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    Object send = Buffers.normal(sendbuf, datatype);
    Object recv = Buffers.normal(recvbuf, datatype);
    Layout layout = Intracomm.outgoing(send, sendoffset, count, datatype);
    Intracomm.incoming(recv, recvoffset, count, datatype);
    Reduction reduction = Intracomm.operation(op, layout);
    run(groups -> groups.allreduce(send, sendoffset, recv, recvoffset, count, layout, reduction));
  }

  /** Combines elements of all of each group, and deals the result out to the other. */
  public void Reduce_scatter(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      Datatype datatype,
      Op op)
      throws MPIException {
    if (recvcounts == null || recvcounts.length < Size()) {
      throw new MPIException(
          MPIException.ERR_COUNT, "counts: one for each of the " + Size() + " ranks is needed");
    }
    int[] counts = Arrays.copyOf(recvcounts, Size());
    long total = 0;
    for (int count : counts) {
      if (count < 0) {
        throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
      }
      total += count;
    }
    Object send = Buffers.normal(sendbuf, datatype);
    Object recv = Buffers.normal(recvbuf, datatype);
    Layout layout = Intracomm.outgoing(send, sendoffset, total, datatype);
    Intracomm.incoming(recv, recvoffset, counts[Rank()], datatype);
    Reduction reduction = Intracomm.operation(op, layout);
    run(
        groups ->
            groups.reduceScatter(send, sendoffset, recv, recvoffset, counts, layout, reduction));
  }
}
