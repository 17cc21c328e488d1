// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Allgathers;
import io.talaria.mpj.collective.Alltoalls;
import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.collective.Barriers;
import io.talaria.mpj.collective.Bcasts;
import io.talaria.mpj.collective.Blocks;
import io.talaria.mpj.collective.Call;
import io.talaria.mpj.collective.Gathers;
import io.talaria.mpj.collective.Neighbors;
import io.talaria.mpj.collective.Reduction;
import io.talaria.mpj.collective.Reductions;
import io.talaria.mpj.collective.Scatters;
import io.talaria.mpj.collective.Team;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Transfer;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A communicator of one group. Collective calls have to be made by all its ranks, in the same
 * order; {@link MPI#IN_PLACE} stands for a send buffer whose data are in the receive buffer.
 */
public class Intracomm extends Comm {
  /** Made once: a barrier allocates nothing. */
  private final Consumer<Team> barrier = this::barrier;

  Intracomm(World world, Group group, int id) {
    super(world, group, id);
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
    run(team(), team -> compare(team, "what makes a communicator", -1, null, null, -1));
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

  /** The algorithms of this communicator, for tests and tuning: all ranks must do the same. */
  final void force(String collective, String algorithm) {
    team().force(collective, algorithm);
  }

  // Checks of collective arguments.

  private int root(int root) {
    if (root < 0 || root >= Size()) {
      throw new MPIException(
          MPIException.ERR_ROOT, "root " + root + ": 0 to " + (Size() - 1) + " is allowed");
    }
    return root;
  }

  static Layout outgoing(Object buffer, int offset, long count, Datatype type) {
    Layout layout = committed(type);
    Buffers.checkCollective(buffer, offset, count, layout, type, false);
    return layout;
  }

  static Layout incoming(Object buffer, int offset, long count, Datatype type) {
    Layout layout = committed(type);
    Buffers.checkCollective(buffer, offset, count, layout, type, true);
    return layout;
  }

  /** Elements of the parts of all ranks. */
  private long ofAll(int count) {
    if (count < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
    }
    return (long) count * Size();
  }

  /** An array with an element for each rank, at least. */
  private void forEachRank(int[] values, String name) {
    if (values == null || values.length < Size()) {
      throw new MPIException(
          MPIException.ERR_COUNT,
          name
              + (values == null ? " is null" : " has " + values.length + " elements")
              + ": one for each of the "
              + Size()
              + " ranks is needed");
    }
  }

  private Layout several(
      Object buffer, int offset, int[] counts, int[] displacements, Datatype type, boolean in) {
    Layout layout = committed(type);
    forEachRank(counts, "the array of counts");
    forEachRank(displacements, "the array of displacements");
    for (int i = 0; i < Size(); i++) {
      long at = offset + (long) displacements[i] * layout.extent();
      Buffers.checkCollective(buffer, at, counts[i], layout, type, in);
    }
    return layout;
  }

  static Reduction operation(Op op, Layout layout) {
    if (op == null) {
      throw new MPIException(MPIException.ERR_OP, "operation is null");
    }
    if (op.reduction() instanceof Arithmetic predefined && !predefined.definedFor(layout)) {
      throw new MPIException(
          MPIException.ERR_OP,
          predefined
              + " is not defined for "
              + layout.base()
              + " elements: write a User_function for others");
    }
    return op.reduction();
  }

  /** What a rank gives or takes itself; null if that is in place. */
  private static Object local(Object buffer, int count, Datatype type) {
    if (buffer == null && count == 0) {
      // No elements need no buffer; null has another meaning from here on.
      return committed(type).base().newArray(0);
    }
    if (buffer == null) {
      Buffers.check(null, 0, count, committed(type), type);
    }
    return buffer == MPI.IN_PLACE ? null : Buffers.normal(buffer, type);
  }

  /**
   * Throws at all ranks if they call different things, where that is asked for.
   *
   * @param team whose messages tell
   * @param elements base elements that all must have, or -1
   * @param base type of them, or null
   * @param root or -1
   */
  private void compare(Team team, String call, long elements, BaseType base, Op op, int root) {
    if (world().settings().checks()) {
      team.compare(
          call
              + (elements < 0 ? base == null ? "" : " of " + base : " of " + elements + " " + base)
              + (op == null ? "" : " by " + op.name())
              + (root < 0 ? "" : ", root " + root));
    }
  }

  private long total(int[] counts, Layout layout) {
    long total = 0;
    for (int i = 0; i < Size(); i++) {
      total += counts[i];
    }
    return total * layout.size();
  }

  /** Elements of the parts of all ranks, none of which may be negative. */
  private long sum(int[] counts) {
    long sum = 0;
    for (int i = 0; i < Size(); i++) {
      if (counts[i] < 0) {
        throw new MPIException(
            MPIException.ERR_COUNT, "count " + counts[i] + ": 0 or more is allowed");
      }
      sum += counts[i];
    }
    return sum;
  }

  private static long elements(int count, Layout layout) {
    return (long) count * layout.size();
  }

  // Collective operations. A private method for each checks its arguments and returns what is left
  // to do: at once by run, in the background by start.

  /** A collective that was started: MPI neither cancels nor frees those under way. */
  private static final class Started extends Request {
    Started(Comm comm, Operation over) {
      super(comm, over);
    }

    private void refuse(String call) {
      if (isActive()) {
        throw new MPIException(
            MPIException.ERR_REQUEST, call + " of a collective that was started: wait for it");
      }
    }

    @Override
    public void Cancel() throws MPIException {
      refuse("Cancel");
      super.Cancel();
    }

    @Override
    public void Free() throws MPIException {
      refuse("Free");
      super.Free();
    }
  }

  /**
   * Does a collective in the background.
   *
   * @param collective its arguments are checked
   */
  private Request start(Consumer<Team> collective) {
    return new Started(this, background().start(collective));
  }

  /** A collective that is started again and again: MPI cancels none, and frees inactive ones. */
  private static final class Persistent extends Prequest {
    private final Supplier<Operation> collective;

    Persistent(Comm comm, Supplier<Operation> collective) {
      super(comm, () -> null);
      this.collective = collective;
    }

    @Override
    void begin() {
      restart(collective.get());
    }

    private void refuse(String call) {
      if (isActive()) {
        throw new MPIException(
            MPIException.ERR_REQUEST, call + " of a collective that was started: wait for it");
      }
    }

    @Override
    public void Cancel() throws MPIException {
      refuse("Cancel");
      super.Cancel();
    }

    @Override
    public void Free() throws MPIException {
      refuse("Free");
      super.Free();
    }
  }

  /**
   * A collective to be done in the background whenever it is started; all ranks start theirs in the
   * same order.
   *
   * @param collective its arguments are checked
   */
  private Prequest later(Consumer<Team> collective) {
    return new Persistent(this, () -> background().start(collective));
  }

  /** Returns when all ranks have called it. */
  public void Barrier() throws MPIException {
    run(team(), barrier);
  }

  /** Starts a Barrier: the buffers must be left alone until the request is over. */
  public Request Ibarrier() throws MPIException {
    return start(barrier);
  }

  /** A Barrier to be started later, any number of times. */
  public Prequest Barrier_init() throws MPIException {
    return later(barrier);
  }

  private void barrier(Team team) {
    compare(team, "Barrier", -1, null, null, -1);
    Barriers.barrier(team);
  }

  /** Brings the root's elements to all. */
  public void Bcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    run(team(), bcast(buf, offset, count, type, root));
  }

  /** Starts a Bcast: the buffers must be left alone until the request is over. */
  public Request Ibcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    return start(bcast(buf, offset, count, type, root));
  }

  /** A Bcast to be started later, any number of times. */
  public Prequest Bcast_init(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    return later(bcast(buf, offset, count, type, root));
  }

  private Consumer<Team> bcast(Object buf, int offset, int count, Datatype type, int root) {
    Object buffer = Buffers.normal(buf, type);
    root(root);
    // The root only sends: elements of its type may lie on each other.
    Layout layout =
        Rank() == root
            ? outgoing(buffer, offset, count, type)
            : incoming(buffer, offset, count, type);
    return team -> {
      compare(team, "Bcast", elements(count, layout), layout.base(), null, root);
      Bcasts.bcast(team, buffer, offset, count, layout, root);
    };
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
        team(),
        gather(
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
        gather(
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
    return later(
        gather(
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

  private Consumer<Team> gather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root) {
    boolean isRoot = Rank() == root(root);
    Object send = local(sendbuf, sendcount, sendtype);
    Object recv = isRoot ? Buffers.normal(recvbuf, recvtype) : null;
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = isRoot ? incoming(recv, recvoffset, ofAll(recvcount), recvtype) : null;
    needsSend(send, isRoot);
    long each = out == null ? elements(recvcount, in) : elements(sendcount, out);
    return team -> {
      compare(team, "Gather", each, (out == null ? in : out).base(), null, root);
      Gathers.gather(team, send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in, root);
    };
  }

  private static void needsSend(Object send, boolean isRoot) {
    if (send == null && !isRoot) {
      throw new MPIException(MPIException.ERR_BUFFER, "IN_PLACE is allowed at the root only");
    }
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
        team(),
        gatherv(
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
        gatherv(
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
    return later(
        gatherv(
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

  private Consumer<Team> gatherv(
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
    boolean isRoot = Rank() == root(root);
    Object send = local(sendbuf, sendcount, sendtype);
    Object recv = isRoot ? Buffers.normal(recvbuf, recvtype) : null;
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = isRoot ? several(recv, recvoffset, recvcount, displs, recvtype, true) : null;
    needsSend(send, isRoot);
    return team -> {
      compare(team, "Gatherv", -1, (out == null ? in : out).base(), null, root);
      Gathers.gatherv(
          team, send, sendoffset, sendcount, out, recv, recvoffset, recvcount, displs, in, root);
    };
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
        team(),
        scatter(
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
        scatter(
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
    return later(
        scatter(
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

  private Consumer<Team> scatter(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int root) {
    boolean isRoot = Rank() == root(root);
    Object send = isRoot ? Buffers.normal(sendbuf, sendtype) : null;
    Object recv = local(recvbuf, recvcount, recvtype);
    Layout out = isRoot ? outgoing(send, sendoffset, ofAll(sendcount), sendtype) : null;
    Layout in = recv == null ? null : incoming(recv, recvoffset, recvcount, recvtype);
    needsSend(recv, isRoot);
    long each = in == null ? elements(sendcount, out) : elements(recvcount, in);
    return team -> {
      compare(team, "Scatter", each, (in == null ? out : in).base(), null, root);
      Scatters.scatter(
          team, send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in, root);
    };
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
        team(),
        scatterv(
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
        scatterv(
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
    return later(
        scatterv(
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

  private Consumer<Team> scatterv(
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
    boolean isRoot = Rank() == root(root);
    Object send = isRoot ? Buffers.normal(sendbuf, sendtype) : null;
    Object recv = local(recvbuf, recvcount, recvtype);
    Layout out = isRoot ? several(send, sendoffset, sendcount, displs, sendtype, false) : null;
    Layout in = recv == null ? null : incoming(recv, recvoffset, recvcount, recvtype);
    needsSend(recv, isRoot);
    return team -> {
      compare(team, "Scatterv", -1, (in == null ? out : in).base(), null, root);
      Scatters.scatterv(
          team, send, sendoffset, sendcount, displs, out, recv, recvoffset, recvcount, in, root);
    };
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
        team(),
        allgather(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
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
        allgather(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
  }

  /** A Allgather to be started later, any number of times. */
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
    return later(
        allgather(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
  }

  private Consumer<Team> allgather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype) {
    Object send = local(sendbuf, sendcount, sendtype);
    Object recv = Buffers.normal(recvbuf, recvtype);
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = incoming(recv, recvoffset, ofAll(recvcount), recvtype);
    return team -> {
      compare(team, "Allgather", elements(recvcount, in), in.base(), null, -1);
      Allgathers.allgather(team, send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in);
    };
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
        team(),
        allgatherv(
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
        allgatherv(
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

  /** A Allgatherv to be started later, any number of times. */
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
    return later(
        allgatherv(
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

  private Consumer<Team> allgatherv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] displs,
      Datatype recvtype) {
    Object send = local(sendbuf, sendcount, sendtype);
    Object recv = Buffers.normal(recvbuf, recvtype);
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = several(recv, recvoffset, recvcounts, displs, recvtype, true);
    return team -> {
      compare(team, "Allgatherv", total(recvcounts, in), in.base(), null, -1);
      Allgathers.allgatherv(
          team, send, sendoffset, sendcount, out, recv, recvoffset, recvcounts, displs, in);
    };
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
        team(),
        alltoall(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
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
        alltoall(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
  }

  /** A Alltoall to be started later, any number of times. */
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
    return later(
        alltoall(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
  }

  private Consumer<Team> alltoall(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype) {
    Object recv = Buffers.normal(recvbuf, recvtype);
    Layout in = incoming(recv, recvoffset, ofAll(recvcount), recvtype);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? null : Buffers.normal(sendbuf, sendtype);
    Layout out = inPlace ? null : outgoing(send, sendoffset, ofAll(sendcount), sendtype);
    return team -> {
      compare(team, "Alltoall", elements(recvcount, in), in.base(), null, -1);
      if (inPlace) {
        Object copy = copy(recv, recvoffset, recvcount * Size(), in);
        Alltoalls.alltoall(team, copy, 0, recvcount, packed(in), recv, recvoffset, recvcount, in);
        return;
      }
      Alltoalls.alltoall(team, send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in);
    };
  }

  private static Layout packed(Layout layout) {
    return Layout.basic(layout.base(), layout.size());
  }

  private static Object copy(Object buffer, int offset, int count, Layout layout) {
    Object copy = layout.base().newArray(count * layout.size());
    io.talaria.mpj.datatype.Elements.pack(buffer, offset, count, layout, copy, 0);
    return copy;
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
        team(),
        alltoallv(
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
        alltoallv(
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

  /** A Alltoallv to be started later, any number of times. */
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
    return later(
        alltoallv(
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

  private Consumer<Team> alltoallv(
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
    Object send = Buffers.normal(sendbuf, sendtype);
    Object recv = Buffers.normal(recvbuf, recvtype);
    Layout out = several(send, sendoffset, sendcount, sdispls, sendtype, false);
    Layout in = several(recv, recvoffset, recvcount, rdispls, recvtype, true);
    return team -> {
      compare(team, "Alltoallv", -1, in.base(), null, -1);
      Alltoalls.alltoallv(
          team,
          send,
          sendoffset,
          sendcount,
          sdispls,
          out,
          recv,
          recvoffset,
          recvcount,
          rdispls,
          in);
    };
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
    run(team(), reduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, root));
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
    return start(reduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, root));
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
    return later(reduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, root));
  }

  private Consumer<Team> reduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      int root) {
    boolean isRoot = Rank() == root(root);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    if (inPlace) {
      needsSend(null, isRoot);
    }
    Object recv = isRoot ? Buffers.normal(recvbuf, datatype) : null;
    Object send = inPlace ? recv : Buffers.normal(sendbuf, datatype);
    int from = inPlace ? recvoffset : sendoffset;
    Layout layout = outgoing(send, from, count, datatype);
    if (isRoot) {
      incoming(recv, recvoffset, count, datatype);
    }
    Reduction reduction = operation(op, layout);
    return team -> {
      compare(team, "Reduce", elements(count, layout), layout.base(), op, root);
      Reductions.reduce(team, send, from, recv, recvoffset, count, layout, reduction, root);
    };
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
    run(team(), allreduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op));
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
    return start(allreduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op));
  }

  /** A Allreduce to be started later, any number of times. */
  public Prequest Allreduce_init(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    return later(allreduce(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op));
  }

  private Consumer<Team> allreduce(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op) {
    Object recv = Buffers.normal(recvbuf, datatype);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? recv : Buffers.normal(sendbuf, datatype);
    int from = inPlace ? recvoffset : sendoffset;
    Layout layout = outgoing(send, from, count, datatype);
    incoming(recv, recvoffset, count, datatype);
    Reduction reduction = operation(op, layout);
    return team -> {
      compare(team, "Allreduce", elements(count, layout), layout.base(), op, -1);
      Reductions.allreduce(team, send, from, recv, recvoffset, count, layout, reduction);
    };
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
    run(team(), reduceScatter(sendbuf, sendoffset, recvbuf, recvoffset, recvcounts, datatype, op));
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
    return start(reduceScatter(sendbuf, sendoffset, recvbuf, recvoffset, recvcounts, datatype, op));
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
    return later(reduceScatter(sendbuf, sendoffset, recvbuf, recvoffset, recvcounts, datatype, op));
  }

  private Consumer<Team> reduceScatter(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      Datatype datatype,
      Op op) {
    forEachRank(recvcounts, "the array of counts");
    Object recv = Buffers.normal(recvbuf, datatype);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? recv : Buffers.normal(sendbuf, datatype);
    int from = inPlace ? recvoffset : sendoffset;
    long total = sum(recvcounts);
    Layout layout = outgoing(send, from, total, datatype);
    incoming(recv, recvoffset, recvcounts[Rank()], datatype);
    Reduction reduction = operation(op, layout);
    return team -> {
      compare(team, "Reduce_scatter", total * layout.size(), layout.base(), op, -1);
      Reductions.reduceScatter(team, send, from, recv, recvoffset, recvcounts, layout, reduction);
    };
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
    run(team(), scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, false));
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
    return start(scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, false));
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
    return later(scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, false));
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
    run(team(), scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, true));
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
    return start(scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, true));
  }

  /** A Exscan to be started later, any number of times. */
  public Prequest Exscan_init(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op)
      throws MPIException {
    return later(scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, true));
  }

  private Consumer<Team> scan(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      boolean exclusive) {
    Object recv = Buffers.normal(recvbuf, datatype);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? recv : Buffers.normal(sendbuf, datatype);
    int from = inPlace ? recvoffset : sendoffset;
    Layout layout = outgoing(send, from, count, datatype);
    incoming(recv, recvoffset, count, datatype);
    Reduction reduction = operation(op, layout);
    String call = exclusive ? "Exscan" : "Scan";
    return team -> {
      compare(team, call, elements(count, layout), layout.base(), op, -1);
      Reductions.scan(team, send, from, recv, recvoffset, count, layout, reduction, exclusive);
    };
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

  private static int[] forEach(int neighbors, int[] values, String name) {
    if (values == null || values.length < neighbors) {
      throw new MPIException(
          MPIException.ERR_COUNT,
          name
              + (values == null ? " is null" : " has " + values.length + " elements")
              + ": one for each of the "
              + neighbors
              + " neighbours is needed");
    }
    return values;
  }

  private static Blocks blocks(
      Object buf, int offset, int[] counts, int[] places, Datatype type, int n, boolean in) {
    Object buffer = Buffers.normal(buf, type);
    Layout layout = committed(type);
    forEach(n, counts, "the array of counts");
    forEach(n, places, "the array of displacements");
    for (int k = 0; k < n; k++) {
      long at = offset + (long) places[k] * layout.extent();
      Buffers.checkCollective(buffer, at, counts[k], layout, type, in);
    }
    return new Blocks(buffer, offset, counts, places, layout);
  }

  /** Equal blocks: one behind the other, or the same for all. */
  private static Blocks blocks(
      Object buf, int offset, int count, Datatype type, int n, boolean same, boolean in) {
    int[] counts = new int[n];
    int[] places = new int[n];
    Arrays.fill(counts, count);
    if (count < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
    }
    if (!same) {
      Arrays.setAll(places, k -> Buffers.toInt((long) k * count, "displacement"));
    }
    return blocks(buf, offset, counts, places, type, n, in);
  }

  private Consumer<Team> exchange(Call call, Blocks out, Blocks in, int[] neighbors) {
    int[] order = neighborsInSendOrder();
    return team -> {
      compare(team, "" + call, -1, in.layout().base(), null, -1);
      Neighbors.exchange(team, call, out, in, neighbors, order);
    };
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
        team(),
        neighborAllgather(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
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
        neighborAllgather(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
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
    return later(
        neighborAllgather(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
  }

  private Consumer<Team> neighborAllgather(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype) {
    int[] ranks = neighbors();
    int n = ranks.length;
    Blocks out = blocks(sendbuf, sendoffset, sendcount, sendtype, n, true, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcount, recvtype, n, false, true);
    return exchange(Call.NEIGHBOR_ALLGATHER, out, in, ranks);
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
        team(),
        neighborAllgatherv(
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
        neighborAllgatherv(
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
    return later(
        neighborAllgatherv(
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

  private Consumer<Team> neighborAllgatherv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] displs,
      Datatype recvtype) {
    int[] ranks = neighbors();
    int n = ranks.length;
    Blocks out = blocks(sendbuf, sendoffset, sendcount, sendtype, n, true, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcounts, displs, recvtype, n, true);
    return exchange(Call.NEIGHBOR_ALLGATHERV, out, in, ranks);
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
        team(),
        neighborAlltoall(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
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
        neighborAlltoall(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
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
    return later(
        neighborAlltoall(
            sendbuf, sendoffset, sendcount, sendtype, recvbuf, recvoffset, recvcount, recvtype));
  }

  private Consumer<Team> neighborAlltoall(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype) {
    int[] ranks = neighbors();
    int n = ranks.length;
    Blocks out = blocks(sendbuf, sendoffset, sendcount, sendtype, n, false, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcount, recvtype, n, false, true);
    return exchange(Call.NEIGHBOR_ALLTOALL, out, in, ranks);
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
        team(),
        neighborAlltoallv(
            sendbuf,
            sendoffset,
            sendcounts,
            sdispls,
            sendtype,
            recvbuf,
            recvoffset,
            recvcounts,
            rdispls,
            recvtype));
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
        neighborAlltoallv(
            sendbuf,
            sendoffset,
            sendcounts,
            sdispls,
            sendtype,
            recvbuf,
            recvoffset,
            recvcounts,
            rdispls,
            recvtype));
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
    return later(
        neighborAlltoallv(
            sendbuf,
            sendoffset,
            sendcounts,
            sdispls,
            sendtype,
            recvbuf,
            recvoffset,
            recvcounts,
            rdispls,
            recvtype));
  }

  private Consumer<Team> neighborAlltoallv(
      Object sendbuf,
      int sendoffset,
      int[] sendcounts,
      int[] sdispls,
      Datatype sendtype,
      Object recvbuf,
      int recvoffset,
      int[] recvcounts,
      int[] rdispls,
      Datatype recvtype) {
    int[] ranks = neighbors();
    int n = ranks.length;
    Blocks out = blocks(sendbuf, sendoffset, sendcounts, sdispls, sendtype, n, false);
    Blocks in = blocks(recvbuf, recvoffset, recvcounts, rdispls, recvtype, n, true);
    return exchange(Call.NEIGHBOR_ALLTOALLV, out, in, ranks);
  }
}
