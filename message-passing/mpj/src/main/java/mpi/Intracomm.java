// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.collective.Reductions;
import io.talaria.mpj.collective.Team;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.engine.FailureControl;
import io.talaria.mpj.engine.Transfer;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A communicator of one group. Collective calls have to be made by all its ranks, in the same
 * order; {@link MPI#IN_PLACE} stands for a send buffer whose data are in the receive buffer.
 */
public class Intracomm extends Comm {
  private final Collectives collectives = new Collectives(this);

  Intracomm(World world, Group group, int id) {
    super(world, group, id);
    world.opened(this);
  }

  // Communicators of communicators.

  /** The «and» of arrays of all ranks. */
  final long[] and(long[] map) {
    long[] result = new long[map.length];
    Layout layout = MPI.LONG.layout();
    run(
        team(),
        team -> Reductions.allreduce(team, map, 0, result, 0, map.length, layout, Arithmetic.BAND));
    return result;
  }

  final int newId() {
    run(team(), team -> collectives.compare(team, "what makes a communicator", -1, null, null, -1));
    return world().ids().agree(id(), this::and);
  }

  /** Another one with the same ranks; collective. */
  @Override
  public Object clone() throws MPIException {
    return new Intracomm(world(), Group(), newId());
  }

  /** Another one with the same ranks; collective. */
  public Intracomm Dup() throws MPIException {
    return (Intracomm) clone();
  }

  /**
   * A communicator of some ranks; collective over all of this one.
   *
   * @param group the same at all of its members
   * @return it, or null at ranks that are not in the group
   */
  public Intracomm Create(Group group) throws MPIException {
    Buffers.given(group, "group");
    int newId = newId();
    if (group.Rank() < 0) {
      world().ids().release(newId);
      return null;
    }
    return new Intracomm(world(), group, newId);
  }

  /**
   * A communicator of some ranks; collective over these only.
   *
   * @param group the same at all of its members, which are ranks of this communicator; this rank is
   *     one of them
   * @param tag tells calls of several threads at once apart
   */
  public Intracomm Create_group(Group group, int tag) throws MPIException {
    Buffers.given(group, "group");
    if (tag < 0) {
      throw new MPIException(
          MPIException.ERR_TAG, "tag " + tag + ": 0 to " + Integer.MAX_VALUE + " is allowed");
    }
    if (group.Rank() < 0) {
      throw new MPIException(
          MPIException.ERR_GROUP, "Create_group: this rank is no member of the group");
    }
    for (int i = 0; i < group.Size(); i++) {
      if (Group().placeOf(group.world(i)) < 0) {
        throw new MPIException(
            MPIException.ERR_GROUP,
            "Create_group: member " + i + " of the group is no rank of the communicator");
      }
    }
    int newId = world().ids().agree(id(), tag, map -> and(group, tag, map));
    return new Intracomm(world(), group, newId);
  }

  /** The «and» of arrays of the members of a group, by its first one. */
  private long[] and(Group group, int tag, long[] map) {
    int context = Device.BESIDE + 2 * id();
    long[] result = map.clone();
    if (group.Rank() > 0) {
      exchange(true, result, group.world(0), tag, context);
      exchange(false, result, group.world(0), tag, context);
      return result;
    }
    long[] theirs = new long[map.length];
    for (int i = 1; i < group.Size(); i++) {
      exchange(false, theirs, group.world(i), tag, context);
      for (int k = 0; k < map.length; k++) {
        result[k] &= theirs[k];
      }
    }
    for (int i = 1; i < group.Size(); i++) {
      exchange(true, result, group.world(i), tag, context);
    }
    return result;
  }

  private void exchange(boolean send, long[] array, int peer, int tag, int context) {
    Layout layout = MPI.LONG.layout();
    int n = array.length;
    await(
        send
            ? Transfer.send(engine(), array, 0, n, layout, peer, tag, context, false)
            : Transfer.receive(engine(), array, 0, n, layout, peer, tag, context));
  }

  /**
   * Parts the ranks; collective.
   *
   * @param colour ranks with the same one come together; {@link MPI#UNDEFINED} for none
   * @param key order of ranks within
   * @return this rank's part, or null if it asked for none
   */
  public Intracomm Split(int colour, int key) throws MPIException {
    if (colour < 0 && colour != MPI.UNDEFINED) {
      throw new MPIException(
          MPIException.ERR_ARG, "colour " + colour + ": 0 or more, or UNDEFINED is allowed");
    }
    int newId = newId();
    Group part = part(colour, key);
    if (part == null) {
      world().ids().release(newId);
      return null;
    }
    return new Intracomm(world(), part, newId);
  }

  /**
   * Parts the ranks by what they share; collective.
   *
   * @param type {@link MPI#COMM_TYPE_SHARED}: ranks of one host whose device maps the same memory;
   *     {@link MPI#UNDEFINED} for none
   * @param key order of ranks within
   * @return this rank's part, or null if it asked for none
   */
  public Intracomm Split_type(int type, int key) throws MPIException {
    if (type == MPI.UNDEFINED) {
      return Split(type, key);
    }
    if (type != MPI.COMM_TYPE_SHARED) {
      throw new MPIException(
          MPIException.ERR_ARG, "type " + type + ": COMM_TYPE_SHARED or UNDEFINED is allowed");
    }
    int first = 0;
    while (!engine().device().sharesMemoryWith(Group().world(first))) {
      first++;
    }
    return Split(first, key);
  }

  private Group part(int colour, int key) {
    int n = Size();
    int[] all = new int[2 * n];
    Allgather(new int[] {colour, key}, 0, 2, MPI.INT, all, 0, 2, MPI.INT);
    if (colour == MPI.UNDEFINED) {
      return null;
    }
    long[] order = new long[n];
    int members = 0;
    for (int i = 0; i < n; i++) {
      if (all[2 * i] == colour) {
        order[members++] = (long) all[2 * i + 1] << 32 | i;
      }
    }
    order = Arrays.copyOf(order, members);
    Arrays.sort(order);
    int[] ranks = new int[members];
    for (int i = 0; i < members; i++) {
      ranks[i] = (int) order[i];
    }
    return Group().Incl(ranks);
  }

  /**
   * Compares; see {@link Comm#Compare}.
   *
   * @param comm1 one
   * @param comm2 another
   */
  public static int Compare(Comm comm1, Comm comm2) throws MPIException {
    return Comm.Compare(comm1, comm2);
  }

  /**
   * A communicator with Cartesian coordinates; collective.
   *
   * @param dims ranks in each dimension
   * @param periods whether each wraps around
   * @param reorder whether ranks may be renumbered; they are not
   * @return it, or null at ranks that are not needed
   */
  public Cartcomm Create_cart(int[] dims, boolean[] periods, boolean reorder) throws MPIException {
    int needed = Cartcomm.size(dims, periods, Size());
    int newId = newId();
    if (Rank() >= needed) {
      world().ids().release(newId);
      return null;
    }
    Group part = Group().Range_incl(new int[][] {{0, needed - 1, 1}});
    return new Cartcomm(world(), part, newId, dims.clone(), periods.clone());
  }

  /**
   * A communicator with the edges of a graph; collective.
   *
   * @param index for each rank where its neighbours end in edges
   * @param edges neighbours
   * @param reorder whether ranks may be renumbered; they are not
   * @return it, or null at ranks that are not in the graph
   */
  public Graphcomm Create_graph(int[] index, int[] edges, boolean reorder) throws MPIException {
    Graphcomm.check(index, edges, Size());
    int newId = newId();
    if (Rank() >= index.length) {
      world().ids().release(newId);
      return null;
    }
    Group part = Group().Range_incl(new int[][] {{0, index.length - 1, 1}});
    return new Graphcomm(world(), part, newId, index.clone(), edges.clone());
  }

  /**
   * A communicator of the ranks that are left, in the same order; collective over them, also where
   * the communicator was revoked.
   */
  public Intracomm Shrink() throws MPIException {
    World world = worldIfRevoked("Shrink");
    FailureControl.Agreement[] last = new FailureControl.Agreement[1];
    int newId =
        world
            .ids()
            .agree(
                id(),
                map -> {
                  last[0] = agreement("Shrink", map);
                  return last[0].values();
                });
    int[] lost = last[0].gone();
    Group gone = new Group(lost, world.engine().rank());
    return new Intracomm(world, mpi.Group.Difference(members(), gone), newId);
  }

  /** The algorithms of this communicator, for tests and tuning: all ranks must do the same. */
  final void force(String collective, String algorithm) {
    team().force(collective, algorithm);
  }

  // Collective operations: checked, and done at once, in the background, or again and again.

  /** Checks the arguments of collectives. */
  private Collectives checked() {
    world();
    return collectives;
  }

  private void run(Consumer<Team> collective) {
    run(team(), collective);
  }

  private Request start(Consumer<Team> collective) {
    Background background = background();
    return StartedRequests.Started.collective(
        this, background.start(() -> collective.accept(background.team())));
  }

  /** All ranks start theirs in the same order. */
  private Prequest persistent(Consumer<Team> collective) {
    return new StartedRequests.Persistent(
        this,
        () -> {
          Background background = background();
          return background.start(() -> collective.accept(background.team()));
        });
  }

  /** Returns when all ranks have called it. */
  public void Barrier() throws MPIException {
    run(checked().barrier());
  }

  /** Starts a Barrier: the buffers must be left alone until the request is over. */
  public Request Ibarrier() throws MPIException {
    return start(checked().barrier());
  }

  /** A Barrier to be started later, any number of times. */
  public Prequest Barrier_init() throws MPIException {
    return persistent(checked().barrier());
  }

  /** Brings the root's elements to all. */
  public void Bcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    run(checked().bcast(new Span(buf, offset, count, type), root));
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

  /** Elements of all come to the root, in rank order; the receive arguments count there only. */
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
      int[] recvcount,
      int[] displs,
      Datatype recvtype,
      int root)
      throws MPIException {
    run(
        checked()
            .gatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcount, displs, recvtype),
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
      int[] recvcount,
      int[] displs,
      Datatype recvtype,
      int root)
      throws MPIException {
    return start(
        checked()
            .gatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcount, displs, recvtype),
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
      int[] recvcount,
      int[] displs,
      Datatype recvtype,
      int root)
      throws MPIException {
    return persistent(
        checked()
            .gatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcount, displs, recvtype),
                root));
  }

  /** The root's elements are dealt out, in rank order; the send arguments count there only. */
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
      int[] sendcount,
      int[] displs,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root)
      throws MPIException {
    run(
        checked()
            .scatterv(
                new Spans(sendbuf, sendoffset, sendcount, displs, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** Starts a Scatterv: the buffers must be left alone until the request is over. */
  public Request Iscatterv(
      Object sendbuf,
      int sendoffset,
      int[] sendcount,
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
                new Spans(sendbuf, sendoffset, sendcount, displs, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** A Scatterv to be started later, any number of times. */
  public Prequest Scatterv_init(
      Object sendbuf,
      int sendoffset,
      int[] sendcount,
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
                new Spans(sendbuf, sendoffset, sendcount, displs, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype),
                root));
  }

  /** Elements of all come to all, in rank order. */
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

  /** Each rank sends each a part of its own. */
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
      int[] sendcount,
      int[] sdispls,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcount,
      int[] rdispls,
      Datatype recvtype)
      throws MPIException {
    run(
        checked()
            .alltoallv(
                new Spans(sendbuf, sendoffset, sendcount, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcount, rdispls, recvtype)));
  }

  /** Starts an Alltoallv: the buffers must be left alone until the request is over. */
  public Request Ialltoallv(
      Object sendbuf,
      int sendoffset,
      int[] sendcount,
      int[] sdispls,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcount,
      int[] rdispls,
      Datatype recvtype)
      throws MPIException {
    return start(
        checked()
            .alltoallv(
                new Spans(sendbuf, sendoffset, sendcount, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcount, rdispls, recvtype)));
  }

  /** An Alltoallv to be started later, any number of times. */
  public Prequest Alltoallv_init(
      Object sendbuf,
      int sendoffset,
      int[] sendcount,
      int[] sdispls,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcount,
      int[] rdispls,
      Datatype recvtype)
      throws MPIException {
    return persistent(
        checked()
            .alltoallv(
                new Spans(sendbuf, sendoffset, sendcount, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcount, rdispls, recvtype)));
  }

  /** Combines elements of all to the root. */
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

  /** Combines elements of all to all. */
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

  /** Combines elements of all, and deals the result out. */
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

  /** Combines elements of the ranks up to this one. */
  public void Scan(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    run(
        checked()
            .scan(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op),
                count,
                false));
  }

  /** Starts a Scan: the buffers must be left alone until the request is over. */
  public Request Iscan(
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
            .scan(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op),
                count,
                false));
  }

  /** A Scan to be started later, any number of times. */
  public Prequest Scan_init(
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
            .scan(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op),
                count,
                false));
  }

  /** Combines elements of the ranks before this one; rank 0's receive buffer is left alone. */
  public void Exscan(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    run(
        checked()
            .scan(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count, true));
  }

  /** Starts an Exscan: the buffers must be left alone until the request is over. */
  public Request Iexscan(
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
            .scan(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count, true));
  }

  /** An Exscan to be started later, any number of times. */
  public Prequest Exscan_init(
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
            .scan(
                new Operands(sendbuf, sendoffset, recvbuf, recvoffset, datatype, op), count, true));
  }

  // Neighbours in a topology.

  /** The neighbours of this rank in MPI's order; PROC_NULL where a grid ends. */
  int[] neighbors() {
    throw new MPIException(
        MPIException.ERR_TOPOLOGY,
        "the communicator has no topology: Create_cart or Create_graph makes one that has");
  }

  /** In which order blocks for neighbours are sent, so that they meet their receives. */
  int[] neighborsInSendOrder() {
    int[] order = new int[neighbors().length];
    Arrays.setAll(order, k -> k);
    return order;
  }

  /** Elements of each rank come to its neighbours, in the order of theirs. */
  public void Neighbor_allgather(
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
        checked()
            .neighborAllgather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** Starts a Neighbor_allgather: the buffers must be left alone until the request is over. */
  public Request Ineighbor_allgather(
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
            .neighborAllgather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** A Neighbor_allgather to be started later, any number of times. */
  public Prequest Neighbor_allgather_init(
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
            .neighborAllgather(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** As Neighbor_allgather, with parts of different lengths. */
  public void Neighbor_allgatherv(
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
        checked()
            .neighborAllgatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype)));
  }

  /** Starts a Neighbor_allgatherv: the buffers must be left alone until the request is over. */
  public Request Ineighbor_allgatherv(
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
            .neighborAllgatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype)));
  }

  /** A Neighbor_allgatherv to be started later, any number of times. */
  public Prequest Neighbor_allgatherv_init(
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
            .neighborAllgatherv(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, displs, recvtype)));
  }

  /** Each rank sends each of its neighbours a part of its own. */
  public void Neighbor_alltoall(
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
        checked()
            .neighborAlltoall(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** Starts a Neighbor_alltoall: the buffers must be left alone until the request is over. */
  public Request Ineighbor_alltoall(
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
            .neighborAlltoall(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** A Neighbor_alltoall to be started later, any number of times. */
  public Prequest Neighbor_alltoall_init(
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
            .neighborAlltoall(
                new Span(sendbuf, sendoffset, sendcount, sendtype),
                new Span(recvbuf, recvoffset, recvcount, recvtype)));
  }

  /** As Neighbor_alltoall, with parts of different lengths. */
  public void Neighbor_alltoallv(
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
        checked()
            .neighborAlltoallv(
                new Spans(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
  }

  /** Starts a Neighbor_alltoallv: the buffers must be left alone until the request is over. */
  public Request Ineighbor_alltoallv(
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
            .neighborAlltoallv(
                new Spans(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
  }

  /** A Neighbor_alltoallv to be started later, any number of times. */
  public Prequest Neighbor_alltoallv_init(
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
            .neighborAlltoallv(
                new Spans(sendbuf, sendoffset, sendcounts, sdispls, sendtype),
                new Spans(recvbuf, recvoffset, recvcounts, rdispls, recvtype)));
  }
}
