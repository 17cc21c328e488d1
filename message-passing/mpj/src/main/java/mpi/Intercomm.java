// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Team;
import io.talaria.mpj.collective.TwoGroups;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.FailureControl;
import io.talaria.mpj.engine.Transfer;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

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
  private final InterCollectives collectives;

  /** Made when it is first needed. */
  private TwoGroups groupsInBackground;

  private Intercomm(
      World world, Intracomm local, Group remote, int id, int leader, int remoteLeader) {
    super(world, local.Group(), id);
    this.local = local;
    this.remote = remote;
    this.leader = leader;
    this.remoteLeader = remoteLeader;
    this.first = local.Group().world(leader) < remote.world(remoteLeader);
    this.groups = new TwoGroups(local.team(), others(2 * id + 1), leader, remoteLeader);
    collectives = new InterCollectives(remote.Size(), local.Size(), local.Rank());
    world.opened(this);
  }

  /** The other group, with messages in a context. */
  private Team others(int context) {
    return Team.ofOthers(
        world().engine(),
        local.Rank(),
        remote.worldRanks(),
        context,
        world().settings().algorithms());
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

  /** The leaders' way to each other by a communicator of both, with the program's tag for it. */
  private record Bridge(Comm comm, int peer, int tag) implements UnaryOperator<long[]> {
    @Override
    public long[] apply(long[] out) {
      int[] length = {0};
      comm.Sendrecv(
          new int[] {out.length}, 0, 1, MPI.INT, peer, tag, length, 0, 1, MPI.INT, peer, tag);
      long[] in = new long[length[0]];
      comm.Sendrecv(out, 0, out.length, MPI.LONG, peer, tag, in, 0, in.length, MPI.LONG, peer, tag);
      return in;
    }
  }

  /**
   * The leaders' way to each other on this one, in a context of its own: receives of the program do
   * not take its messages, and it takes none of the program's.
   */
  private long[] exchange(long[] out) {
    long[] length = {0};
    swap(new long[] {out.length}, length);
    long[] in = new long[(int) length[0]];
    swap(out, in);
    return in;
  }

  private void swap(long[] out, long[] in) {
    int to = remote.world(remoteLeader);
    int context = Device.BESIDE + context();
    Layout layout = MPI.LONG.layout();
    Transfer receive =
        Transfer.receive(engine(), in, 0, in.length, layout, to, Device.ANY_TAG, context);
    Transfer send = Transfer.send(engine(), out, 0, out.length, layout, to, 0, context, false);
    await(receive);
    await(send);
  }

  /**
   * An id that is free at all ranks of both sides.
   *
   * @param bridge brings one leader what the other one gives
   */
  private static int agree(Intracomm local, int leader, UnaryOperator<long[]> bridge) {
    boolean leads = local.Rank() == leader;
    return local
        .world()
        .ids()
        .agree(
            local.id(),
            map -> {
              long[] both = local.and(map);
              if (leads) {
                long[] theirs = bridge.apply(both);
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
      theirs = bridge.apply(out);
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
    long[] theirs = {0};
    if (leads) {
      theirs = exchange(new long[] {high ? 1 : 0});
    }
    local.Bcast(theirs, 0, 1, MPI.LONG, leader);
    boolean theyAreHigh = theirs[0] != 0;
    int id = agree(local, leader, this::exchange);
    boolean before = high == theyAreHigh ? first : !high;
    Group mine = Group();
    Group all = before ? mpi.Group.Union(mine, remote) : mpi.Group.Union(remote, mine);
    return new Intracomm(world(), all, id);
  }

  @Override
  public Object clone() throws MPIException {
    int id = agree(local, leader, this::exchange);
    return new Intercomm(world(), local.Dup(), remote, id, leader, remoteLeader);
  }

  @Override
  public void Free() throws MPIException {
    super.Free();
    local.Free();
  }

  /** Each group agrees on the flags of the other one, as with other collectives. */
  @Override
  public int Agree(int flag) throws MPIException {
    long[] flags = first ? new long[] {flag, -1} : new long[] {-1, flag};
    return (int) agreement("Agree", flags).values()[first ? 1 : 0];
  }

  /**
   * An inter-communicator of the ranks that are left, in the same order; collective over them, also
   * where this one was revoked.
   *
   * @return it, or null if no rank of the other group is left
   */
  public Intercomm Shrink() throws MPIException {
    World world = worldIfRevoked("Shrink");
    FailureControl.Agreement[] last = new FailureControl.Agreement[1];
    UnaryOperator<long[]> and =
        map -> {
          last[0] = agreement("Shrink", map);
          return last[0].values();
        };
    int newId = world.ids().agree(id(), and);
    // Of what each side keeps of its own. Who had failed by then counts, for both communicators.
    int localId = world.ids().agree(id(), and);
    Group gone = new Group(last[0].gone(), world.engine().rank());
    Group there = mpi.Group.Difference(remote, gone);
    if (there.Size() == 0) {
      world.ids().release(newId);
      world.ids().release(localId);
      return null;
    }
    Intracomm here = new Intracomm(world, mpi.Group.Difference(members(), gone), localId);
    return new Intercomm(world, here, there, newId, 0, 0);
  }

  @Override
  Group everybody() {
    return mpi.Group.Union(local.members(), remote);
  }

  @Override
  void revokedHere() {
    local.markRevoked(); // Before this one: a thread that sees this one revoked may use both.
    super.revokedHere();
    local.revokedHere();
  }

  // Collectives: checked, and done at once, in the background, or again and again.

  /** Checks the arguments of collectives. */
  private InterCollectives checked() {
    world();
    return collectives;
  }

  /** For what runs in the background: its messages have contexts of their own. */
  private synchronized TwoGroups groupsInBackground() {
    if (groupsInBackground == null) {
      // The local communicator is this one's own: nothing else runs in its background.
      groupsInBackground =
          new TwoGroups(
              local.background().team(),
              others(Device.BESIDE + 2 * id() + 1),
              leader,
              remoteLeader);
    }
    return groupsInBackground;
  }

  private Operation inBackground(Consumer<TwoGroups> collective) {
    TwoGroups both = groupsInBackground();
    return background().start(() -> collective.accept(both));
  }

  private Request start(Consumer<TwoGroups> collective) {
    return StartedRequests.Started.collective(this, inBackground(collective));
  }

  /** All ranks start theirs in the same order. */
  private Prequest persistent(Consumer<TwoGroups> collective) {
    return new StartedRequests.Persistent(this, () -> inBackground(collective));
  }

  /** Returns when all ranks of the other group have called it. */
  public void Barrier() throws MPIException {
    run(groups, checked().barrier());
  }

  /** Starts a Barrier: the buffers must be left alone until the request is over. */
  public Request Ibarrier() throws MPIException {
    return start(checked().barrier());
  }

  /** A Barrier to be started later, any number of times. */
  public Prequest Barrier_init() throws MPIException {
    return persistent(checked().barrier());
  }

  /** Brings the root's elements to all of the other group. */
  public void Bcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    run(groups, checked().bcast(new Span(buf, offset, count, type), root));
  }

  /** Starts a Bcast: the buffers must be left alone until the request is over. */
  public Request Ibcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    return start(checked().bcast(new Span(buf, offset, count, type), root));
  }

  /** A Bcast to be started later, any number of times. */
  public Prequest Bcast_init(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    return persistent(checked().bcast(new Span(buf, offset, count, type), root));
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
    run(
        groups,
        checked()
            .gather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** Starts a Gather: the buffers must be left alone until the request is over. */
  public Request Igather(
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
    return start(
        checked()
            .gather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** A Gather to be started later, any number of times. */
  public Prequest Gather_init(
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
    return persistent(
        checked()
            .gather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
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
    run(
        groups,
        checked()
            .gatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype),
                root));
  }

  /** Starts a Gatherv: the buffers must be left alone until the request is over. */
  public Request Igatherv(
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
    return start(
        checked()
            .gatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype),
                root));
  }

  /** A Gatherv to be started later, any number of times. */
  public Prequest Gatherv_init(
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
    return persistent(
        checked()
            .gatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype),
                root));
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
    run(
        groups,
        checked()
            .scatter(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** Starts a Scatter: the buffers must be left alone until the request is over. */
  public Request Iscatter(
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
    return start(
        checked()
            .scatter(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** A Scatter to be started later, any number of times. */
  public Prequest Scatter_init(
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
    return persistent(
        checked()
            .scatter(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
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
    run(
        groups,
        checked()
            .scatterv(
                new Spans(sendbuf, sendoffset, sendcounts, displs, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** Starts a Scatterv: the buffers must be left alone until the request is over. */
  public Request Iscatterv(
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
    return start(
        checked()
            .scatterv(
                new Spans(sendbuf, sendoffset, sendcounts, displs, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** A Scatterv to be started later, any number of times. */
  public Prequest Scatterv_init(
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
    return persistent(
        checked()
            .scatterv(
                new Spans(sendbuf, sendoffset, sendcounts, displs, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
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
    run(
        groups,
        checked()
            .allgather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** Starts an Allgather: the buffers must be left alone until the request is over. */
  public Request Iallgather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype)
      throws MPIException {
    return start(
        checked()
            .allgather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** An Allgather to be started later, any number of times. */
  public Prequest Allgather_init(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype)
      throws MPIException {
    return persistent(
        checked()
            .allgather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
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
    run(
        groups,
        checked()
            .allgatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype)));
  }

  /** Starts an Allgatherv: the buffers must be left alone until the request is over. */
  public Request Iallgatherv(
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
    return start(
        checked()
            .allgatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype)));
  }

  /** An Allgatherv to be started later, any number of times. */
  public Prequest Allgatherv_init(
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
    return persistent(
        checked()
            .allgatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype)));
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
    run(
        groups,
        checked()
            .alltoall(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** Starts an Alltoall: the buffers must be left alone until the request is over. */
  public Request Ialltoall(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype)
      throws MPIException {
    return start(
        checked()
            .alltoall(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** An Alltoall to be started later, any number of times. */
  public Prequest Alltoall_init(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype)
      throws MPIException {
    return persistent(
        checked()
            .alltoall(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
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
    run(
        groups,
        checked()
            .alltoallv(
                new Spans(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
  }

  /** Starts an Alltoallv: the buffers must be left alone until the request is over. */
  public Request Ialltoallv(
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
    return start(
        checked()
            .alltoallv(
                new Spans(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
  }

  /** An Alltoallv to be started later, any number of times. */
  public Prequest Alltoallv_init(
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
    return persistent(
        checked()
            .alltoallv(
                new Spans(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
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
    run(
        groups,
        checked()
            .reduce(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count, root));
  }

  /** Starts a Reduce: the buffers must be left alone until the request is over. */
  public Request Ireduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      int root)
      throws MPIException {
    return start(
        checked()
            .reduce(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count, root));
  }

  /** A Reduce to be started later, any number of times. */
  public Prequest Reduce_init(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      int root)
      throws MPIException {
    return persistent(
        checked()
            .reduce(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count, root));
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
    run(
        groups,
        checked()
            .allreduce(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count));
  }

  /** Starts an Allreduce: the buffers must be left alone until the request is over. */
  public Request Iallreduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    return start(
        checked()
            .allreduce(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count));
  }

  /** An Allreduce to be started later, any number of times. */
  public Prequest Allreduce_init(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    return persistent(
        checked()
            .allreduce(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count));
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
    run(
        groups,
        checked()
            .reduceScatter(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), recvcounts));
  }

  /** Starts a Reduce_scatter: the buffers must be left alone until the request is over. */
  public Request Ireduce_scatter(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      Datatype datatype,
      Op op)
      throws MPIException {
    return start(
        checked()
            .reduceScatter(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), recvcounts));
  }

  /** A Reduce_scatter to be started later, any number of times. */
  public Prequest Reduce_scatter_init(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      Datatype datatype,
      Op op)
      throws MPIException {
    return persistent(
        checked()
            .reduceScatter(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), recvcounts));
  }
}
