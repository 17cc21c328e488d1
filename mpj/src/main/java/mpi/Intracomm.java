// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Allgathers;
import io.talaria.mpj.collective.Alltoalls;
import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.collective.Barriers;
import io.talaria.mpj.collective.Bcasts;
import io.talaria.mpj.collective.Gathers;
import io.talaria.mpj.collective.Reduction;
import io.talaria.mpj.collective.Reductions;
import io.talaria.mpj.collective.Scatters;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import java.util.Arrays;

/**
 * A communicator of one group. Collective calls have to be made by all its ranks, in the same
 * order; {@link MPI#IN_PLACE} stands for a send buffer whose data are in the receive buffer.
 */
public class Intracomm extends Comm {
  Intracomm(World world, Group group, int id) {
    super(world, group, id);
  }

  // Communicators of communicators.

  /** The «and» of arrays of all ranks. */
  final long[] and(long[] map) {
    long[] result = new long[map.length];
    Reductions.allreduce(team(), map, 0, result, 0, map.length, MPI.LONG.layout(), Arithmetic.BAND);
    return result;
  }

  final int newId() {
    compare("what makes a communicator", -1, null, null, -1);
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
    int newId = newId();
    if (group.Rank() < 0) {
      world().ids().release(newId);
      return null;
    }
    return new Intracomm(world(), group, newId);
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

  private static Layout outgoing(Object buffer, int offset, int count, Datatype type) {
    Layout layout = committed(type);
    Buffers.check(buffer, offset, count, layout, type);
    return layout;
  }

  private static Layout incoming(Object buffer, int offset, int count, Datatype type) {
    Layout layout = committed(type);
    Buffers.checkReceive(buffer, offset, count, layout, type);
    return layout;
  }

  private Layout several(
      Object buffer, int offset, int[] counts, int[] displacements, Datatype type, boolean in) {
    Layout layout = committed(type);
    if (counts == null || counts.length < Size() || displacements.length < Size()) {
      throw new MPIException(
          MPIException.ERR_COUNT, "counts and displacements need " + Size() + " elements each");
    }
    for (int i = 0; i < Size(); i++) {
      int at = offset + displacements[i] * layout.extent();
      if (in) {
        Buffers.checkReceive(buffer, at, counts[i], layout, type);
      } else {
        Buffers.check(buffer, at, counts[i], layout, type);
      }
    }
    return layout;
  }

  private static Reduction operation(Op op, Layout layout) {
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

  private static Object local(Object buffer) {
    return buffer == MPI.IN_PLACE ? null : Buffers.normal(buffer);
  }

  /**
   * Throws at all ranks if they call different things, where that is asked for.
   *
   * @param elements base elements that all must have, or -1
   * @param base type of them, or null
   * @param root or -1
   */
  private void compare(String call, long elements, BaseType base, Op op, int root) {
    if (world().settings().checks()) {
      team()
          .compare(
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

  private static long elements(int count, Layout layout) {
    return (long) count * layout.size();
  }

  // Collective operations.

  /** Returns when all ranks have called it. */
  public void Barrier() throws MPIException {
    compare("Barrier", -1, null, null, -1);
    Barriers.barrier(team());
  }

  /** Brings the root's elements to all. */
  public void Bcast(Object buf, int offset, int count, Datatype type, int root)
      throws MPIException {
    Object buffer = Buffers.normal(buf);
    root(root);
    Layout layout = incoming(buffer, offset, count, type);
    compare("Bcast", elements(count, layout), layout.base(), null, root);
    Bcasts.bcast(team(), buffer, offset, count, layout, root);
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
    boolean isRoot = Rank() == root(root);
    Object send = local(sendbuf);
    Object recv = isRoot ? Buffers.normal(recvbuf) : null;
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = isRoot ? incoming(recv, recvoffset, recvcount * Size(), recvtype) : null;
    needsSend(send, isRoot);
    long each = out == null ? elements(recvcount, in) : elements(sendcount, out);
    compare("Gather", each, (out == null ? in : out).base(), null, root);
    Gathers.gather(team(), send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in, root);
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
    boolean isRoot = Rank() == root(root);
    Object send = local(sendbuf);
    Object recv = isRoot ? Buffers.normal(recvbuf) : null;
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = isRoot ? several(recv, recvoffset, recvcount, displs, recvtype, true) : null;
    needsSend(send, isRoot);
    compare("Gatherv", -1, (out == null ? in : out).base(), null, root);
    Gathers.gatherv(
        team(), send, sendoffset, sendcount, out, recv, recvoffset, recvcount, displs, in, root);
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
    boolean isRoot = Rank() == root(root);
    Object send = isRoot ? Buffers.normal(sendbuf) : null;
    Object recv = local(recvbuf);
    Layout out = isRoot ? outgoing(send, sendoffset, sendcount * Size(), sendtype) : null;
    Layout in = recv == null ? null : incoming(recv, recvoffset, recvcount, recvtype);
    needsSend(recv, isRoot);
    long each = in == null ? elements(sendcount, out) : elements(recvcount, in);
    compare("Scatter", each, (in == null ? out : in).base(), null, root);
    Scatters.scatter(
        team(), send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in, root);
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
    boolean isRoot = Rank() == root(root);
    Object send = isRoot ? Buffers.normal(sendbuf) : null;
    Object recv = local(recvbuf);
    Layout out = isRoot ? several(send, sendoffset, sendcount, displs, sendtype, false) : null;
    Layout in = recv == null ? null : incoming(recv, recvoffset, recvcount, recvtype);
    needsSend(recv, isRoot);
    compare("Scatterv", -1, (in == null ? out : in).base(), null, root);
    Scatters.scatterv(
        team(), send, sendoffset, sendcount, displs, out, recv, recvoffset, recvcount, in, root);
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
    Object send = local(sendbuf);
    Object recv = Buffers.normal(recvbuf);
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = incoming(recv, recvoffset, recvcount * Size(), recvtype);
    compare("Allgather", elements(recvcount, in), in.base(), null, -1);
    Allgathers.allgather(team(), send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in);
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
    Object send = local(sendbuf);
    Object recv = Buffers.normal(recvbuf);
    Layout out = send == null ? null : outgoing(send, sendoffset, sendcount, sendtype);
    Layout in = several(recv, recvoffset, recvcounts, displs, recvtype, true);
    compare("Allgatherv", total(recvcounts, in), in.base(), null, -1);
    Allgathers.allgatherv(
        team(), send, sendoffset, sendcount, out, recv, recvoffset, recvcounts, displs, in);
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
    Object recv = Buffers.normal(recvbuf);
    Layout in = incoming(recv, recvoffset, recvcount * Size(), recvtype);
    compare("Alltoall", elements(recvcount, in), in.base(), null, -1);
    if (sendbuf == MPI.IN_PLACE) {
      Object copy = copy(recv, recvoffset, recvcount * Size(), in);
      Alltoalls.alltoall(team(), copy, 0, recvcount, packed(in), recv, recvoffset, recvcount, in);
      return;
    }
    Object send = Buffers.normal(sendbuf);
    Layout out = outgoing(send, sendoffset, sendcount * Size(), sendtype);
    Alltoalls.alltoall(team(), send, sendoffset, sendcount, out, recv, recvoffset, recvcount, in);
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
    Object send = Buffers.normal(sendbuf);
    Object recv = Buffers.normal(recvbuf);
    Layout out = several(send, sendoffset, sendcount, sdispls, sendtype, false);
    Layout in = several(recv, recvoffset, recvcount, rdispls, recvtype, true);
    compare("Alltoallv", -1, in.base(), null, -1);
    Alltoalls.alltoallv(
        team(),
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
    boolean isRoot = Rank() == root(root);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    if (inPlace) {
      needsSend(null, isRoot);
    }
    Object recv = isRoot ? Buffers.normal(recvbuf) : null;
    Object send = inPlace ? recv : Buffers.normal(sendbuf);
    int from = inPlace ? recvoffset : sendoffset;
    Layout layout = outgoing(send, from, count, datatype);
    if (isRoot) {
      incoming(recv, recvoffset, count, datatype);
    }
    Reduction reduction = operation(op, layout);
    compare("Reduce", elements(count, layout), layout.base(), op, root);
    Reductions.reduce(team(), send, from, recv, recvoffset, count, layout, reduction, root);
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
    Object recv = Buffers.normal(recvbuf);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? recv : Buffers.normal(sendbuf);
    int from = inPlace ? recvoffset : sendoffset;
    Layout layout = outgoing(send, from, count, datatype);
    incoming(recv, recvoffset, count, datatype);
    Reduction reduction = operation(op, layout);
    compare("Allreduce", elements(count, layout), layout.base(), op, -1);
    Reductions.allreduce(team(), send, from, recv, recvoffset, count, layout, reduction);
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
    if (recvcounts == null || recvcounts.length < Size()) {
      throw new MPIException(
          MPIException.ERR_COUNT, "counts need " + Size() + " elements, one for each rank");
    }
    Object recv = Buffers.normal(recvbuf);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? recv : Buffers.normal(sendbuf);
    int from = inPlace ? recvoffset : sendoffset;
    int total = 0;
    for (int i = 0; i < Size(); i++) {
      if (recvcounts[i] < 0) {
        throw new MPIException(
            MPIException.ERR_COUNT, "count " + recvcounts[i] + ": 0 or more is allowed");
      }
      total += recvcounts[i];
    }
    Layout layout = outgoing(send, from, total, datatype);
    incoming(recv, recvoffset, recvcounts[Rank()], datatype);
    Reduction reduction = operation(op, layout);
    compare("Reduce_scatter", elements(total, layout), layout.base(), op, -1);
    Reductions.reduceScatter(
        team(), send, from, recv, recvoffset, recvcounts, layout, reduction);
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
    scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, false);
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
    scan(sendbuf, sendoffset, recvbuf, recvoffset, count, datatype, op, true);
  }

  private void scan(
      Object sendbuf,
      int sendoffset,
      Object recvbuf,
      int recvoffset,
      int count,
      Datatype datatype,
      Op op,
      boolean exclusive) {
    Object recv = Buffers.normal(recvbuf);
    boolean inPlace = sendbuf == MPI.IN_PLACE;
    Object send = inPlace ? recv : Buffers.normal(sendbuf);
    int from = inPlace ? recvoffset : sendoffset;
    Layout layout = outgoing(send, from, count, datatype);
    incoming(recv, recvoffset, count, datatype);
    Reduction reduction = operation(op, layout);
    String call = exclusive ? "Exscan" : "Scan";
    compare(call, elements(count, layout), layout.base(), op, -1);
    Reductions.scan(
        team(), send, from, recv, recvoffset, count, layout, reduction, exclusive);
  }
}
