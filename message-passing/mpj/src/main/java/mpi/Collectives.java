// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Allgathers;
import io.talaria.mpj.collective.Alltoalls;
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
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import java.util.function.Consumer;

/**
 * The collectives of a communicator of one group. Each method checks the arguments of a call, and
 * returns what is left to do: at once, in the background, or whenever a request is started. What is
 * left keeps the parts of the arguments and not their objects, which therefore need not be made.
 */
final class Collectives {
  private static final String RANKS = "ranks";
  private static final String NEIGHBOURS = "neighbours";

  private final Intracomm comm;

  /** Made once: a barrier allocates nothing. */
  private final Consumer<Team> barrier = this::doBarrier;

  Collectives(Intracomm comm) {
    this.comm = comm;
  }

  /**
   * Throws at all ranks if they call different things, where that is asked for.
   *
   * @param team whose messages tell
   * @param elements base elements that all must have, or -1
   * @param base type of them, or null
   * @param root or -1
   */
  void compare(Team team, String call, long elements, BaseType base, Op op, int root) {
    if (comm.world().settings().checks()) {
      team.compare(
          call
              + (elements < 0 ? base == null ? "" : " of " + base : " of " + elements + " " + base)
              + (op == null ? "" : " by " + op.name())
              + (root < 0 ? "" : ", root " + root));
    }
  }

  private boolean isRoot(int root) {
    if (root < 0 || root >= comm.Size()) {
      throw new MPIException(
          MPIException.ERR_ROOT, "root " + root + ": 0 to " + (comm.Size() - 1) + " is allowed");
    }
    return comm.Rank() == root;
  }

  private static void inPlaceAtRootOnly(boolean inPlace, boolean isRoot) {
    if (inPlace && !isRoot) {
      throw new MPIException(MPIException.ERR_BUFFER, "IN_PLACE is allowed at the root only");
    }
  }

  private static long elements(int count, Layout layout) {
    return (long) count * layout.size();
  }

  private long total(int[] counts, Layout layout) {
    long total = 0;
    for (int i = 0; i < comm.Size(); i++) {
      total += counts[i];
    }
    return total * layout.size();
  }

  Consumer<Team> barrier() {
    return barrier;
  }

  private void doBarrier(Team team) {
    compare(team, "Barrier", -1, null, null, -1);
    Barriers.barrier(team);
  }

  Consumer<Team> bcast(Span elements, int root) {
    Object buffer = elements.buffer();
    int offset = elements.offset();
    int count = elements.count();
    // The root only sends: elements of its type may lie on each other.
    Layout layout = elements.check(buffer, 1, !isRoot(root));
    return team -> {
      compare(team, "Bcast", elements(count, layout), layout.base(), null, root);
      Bcasts.bcast(team, buffer, offset, count, layout, root);
    };
  }

  Consumer<Team> gather(Span from, Span to, int root) {
    int fromOffset = from.offset();
    int fromCount = from.count();
    int toOffset = to.offset();
    int toCount = to.count();
    boolean isRoot = isRoot(root);
    Object send = from.bufferOrInPlace();
    Object recv = isRoot ? to.buffer() : null;
    Layout out = send == null ? null : from.sent(send);
    Layout in = isRoot ? to.check(recv, comm.Size(), true) : null;
    inPlaceAtRootOnly(send == null, isRoot);
    long each = out == null ? elements(toCount, in) : elements(fromCount, out);
    return team -> {
      compare(team, "Gather", each, (out == null ? in : out).base(), null, root);
      Gathers.gather(team, send, fromOffset, fromCount, out, recv, toOffset, toCount, in, root);
    };
  }

  Consumer<Team> gatherv(Span from, Spans to, int root) {
    int fromOffset = from.offset();
    int fromCount = from.count();
    int toOffset = to.offset();
    int[] toCounts = to.counts();
    int[] toPlaces = to.displacements();
    boolean isRoot = isRoot(root);
    Object send = from.bufferOrInPlace();
    Object recv = isRoot ? to.buffer() : null;
    Layout out = send == null ? null : from.sent(send);
    Layout in = isRoot ? to.check(recv, comm.Size(), RANKS, true) : null;
    inPlaceAtRootOnly(send == null, isRoot);
    return team -> {
      compare(team, "Gatherv", -1, (out == null ? in : out).base(), null, root);
      Gathers.gatherv(
          team, send, fromOffset, fromCount, out, recv, toOffset, toCounts, toPlaces, in, root);
    };
  }

  Consumer<Team> scatter(Span from, Span to, int root) {
    int fromOffset = from.offset();
    int fromCount = from.count();
    int toOffset = to.offset();
    int toCount = to.count();
    boolean isRoot = isRoot(root);
    Object send = isRoot ? from.buffer() : null;
    Object recv = to.bufferOrInPlace();
    Layout out = isRoot ? from.check(send, comm.Size(), false) : null;
    Layout in = recv == null ? null : to.received(recv);
    inPlaceAtRootOnly(recv == null, isRoot);
    long each = in == null ? elements(fromCount, out) : elements(toCount, in);
    return team -> {
      compare(team, "Scatter", each, (in == null ? out : in).base(), null, root);
      Scatters.scatter(team, send, fromOffset, fromCount, out, recv, toOffset, toCount, in, root);
    };
  }

  Consumer<Team> scatterv(Spans from, Span to, int root) {
    int fromOffset = from.offset();
    int[] fromCounts = from.counts();
    int[] fromPlaces = from.displacements();
    int toOffset = to.offset();
    int toCount = to.count();
    boolean isRoot = isRoot(root);
    Object send = isRoot ? from.buffer() : null;
    Object recv = to.bufferOrInPlace();
    Layout out = isRoot ? from.check(send, comm.Size(), RANKS, false) : null;
    Layout in = recv == null ? null : to.received(recv);
    inPlaceAtRootOnly(recv == null, isRoot);
    return team -> {
      compare(team, "Scatterv", -1, (in == null ? out : in).base(), null, root);
      Scatters.scatterv(
          team, send, fromOffset, fromCounts, fromPlaces, out, recv, toOffset, toCount, in, root);
    };
  }

  Consumer<Team> allgather(Span from, Span to) {
    int fromOffset = from.offset();
    int fromCount = from.count();
    int toOffset = to.offset();
    int toCount = to.count();
    Object send = from.bufferOrInPlace();
    Object recv = to.buffer();
    Layout out = send == null ? null : from.sent(send);
    Layout in = to.check(recv, comm.Size(), true);
    return team -> {
      compare(team, "Allgather", elements(toCount, in), in.base(), null, -1);
      Allgathers.allgather(team, send, fromOffset, fromCount, out, recv, toOffset, toCount, in);
    };
  }

  Consumer<Team> allgatherv(Span from, Spans to) {
    int fromOffset = from.offset();
    int fromCount = from.count();
    int toOffset = to.offset();
    int[] toCounts = to.counts();
    int[] toPlaces = to.displacements();
    Object send = from.bufferOrInPlace();
    Object recv = to.buffer();
    Layout out = send == null ? null : from.sent(send);
    Layout in = to.check(recv, comm.Size(), RANKS, true);
    return team -> {
      compare(team, "Allgatherv", total(toCounts, in), in.base(), null, -1);
      Allgathers.allgatherv(
          team, send, fromOffset, fromCount, out, recv, toOffset, toCounts, toPlaces, in);
    };
  }

  Consumer<Team> alltoall(Span from, Span to) {
    int fromOffset = from.offset();
    int fromCount = from.count();
    int toOffset = to.offset();
    int toCount = to.count();
    int n = comm.Size();
    Object recv = to.buffer();
    Layout in = to.check(recv, n, true);
    if (from.inPlace()) {
      return team -> {
        compare(team, "Alltoall", elements(toCount, in), in.base(), null, -1);
        Object copy = in.base().newArray(toCount * n * in.size());
        Elements.pack(recv, toOffset, toCount * n, in, copy, 0);
        Layout packed = Layout.basic(in.base(), in.size());
        Alltoalls.alltoall(team, copy, 0, toCount, packed, recv, toOffset, toCount, in);
      };
    }
    Object send = from.buffer();
    Layout out = from.check(send, n, false);
    return team -> {
      compare(team, "Alltoall", elements(toCount, in), in.base(), null, -1);
      Alltoalls.alltoall(team, send, fromOffset, fromCount, out, recv, toOffset, toCount, in);
    };
  }

  Consumer<Team> alltoallv(Spans from, Spans to) {
    int fromOffset = from.offset();
    int[] fromCounts = from.counts();
    int[] fromPlaces = from.displacements();
    int toOffset = to.offset();
    int[] toCounts = to.counts();
    int[] toPlaces = to.displacements();
    Object recv = to.buffer();
    if (from.inPlace()) {
      Layout in = to.check(recv, comm.Size(), RANKS, true);
      return alltoallvInPlace(recv, toOffset, toCounts, toPlaces, in);
    }
    Object send = from.buffer();
    Layout out = from.check(send, comm.Size(), RANKS, false);
    Layout in = to.check(recv, comm.Size(), RANKS, true);
    return team -> {
      compare(team, "Alltoallv", -1, in.base(), null, -1);
      Alltoalls.alltoallv(
          team,
          send,
          fromOffset,
          fromCounts,
          fromPlaces,
          out,
          recv,
          toOffset,
          toCounts,
          toPlaces,
          in);
    };
  }

  /** To each rank goes as much as comes from it, from the same place. */
  private Consumer<Team> alltoallvInPlace(
      Object recv, int offset, int[] counts, int[] places, Layout in) {
    int elements = Buffers.toInt(total(counts, in), "elements of a collective:");
    Layout packed = Layout.basic(in.base(), in.size());
    return team -> {
      compare(team, "Alltoallv", -1, in.base(), null, -1);
      Object copy = in.base().newArray(elements);
      int[] copyPlaces = new int[team.size()];
      int place = 0;
      for (int i = 0; i < copyPlaces.length; i++) {
        copyPlaces[i] = place;
        long at = offset + (long) places[i] * in.extent();
        Elements.pack(recv, at, counts[i], in, copy, place * in.size());
        place += counts[i];
      }
      Alltoalls.alltoallv(
          team, copy, 0, counts, copyPlaces, packed, recv, offset, counts, places, in);
    };
  }

  Consumer<Team> reduce(Operands operands, int count, int root) {
    boolean isRoot = isRoot(root);
    inPlaceAtRootOnly(operands.inPlace(), isRoot);
    Object recv = isRoot ? operands.receiveBuffer() : null;
    Object send = operands.sendBuffer(recv);
    Layout layout = operands.sent(send, count);
    if (isRoot) {
      operands.received(recv, count);
    }
    Reduction reduction = operands.reduction(layout);
    Op op = operands.op();
    int from = operands.from();
    int to = operands.receiveOffset();
    return team -> {
      compare(team, "Reduce", elements(count, layout), layout.base(), op, root);
      Reductions.reduce(team, send, from, recv, to, count, layout, reduction, root);
    };
  }

  Consumer<Team> allreduce(Operands operands, int count) {
    Object recv = operands.receiveBuffer();
    Object send = operands.sendBuffer(recv);
    Layout layout = operands.sent(send, count);
    operands.received(recv, count);
    Reduction reduction = operands.reduction(layout);
    Op op = operands.op();
    int from = operands.from();
    int to = operands.receiveOffset();
    return team -> {
      compare(team, "Allreduce", elements(count, layout), layout.base(), op, -1);
      Reductions.allreduce(team, send, from, recv, to, count, layout, reduction);
    };
  }

  Consumer<Team> reduceScatter(Operands operands, int[] counts) {
    Spans.oneForEach(comm.Size(), RANKS, counts, "the array of counts");
    Object recv = operands.receiveBuffer();
    Object send = operands.sendBuffer(recv);
    long total = Operands.sum(counts, comm.Size());
    Layout layout = operands.sent(send, total);
    operands.received(recv, counts[comm.Rank()]);
    Reduction reduction = operands.reduction(layout);
    Op op = operands.op();
    int from = operands.from();
    int to = operands.receiveOffset();
    return team -> {
      compare(team, "Reduce_scatter", total * layout.size(), layout.base(), op, -1);
      Reductions.reduceScatter(team, send, from, recv, to, counts, layout, reduction);
    };
  }

  /**
   * A Scan, or an Exscan.
   *
   * @param exclusive whether this rank's operands are left out
   */
  Consumer<Team> scan(Operands operands, int count, boolean exclusive) {
    Object recv = operands.receiveBuffer();
    Object send = operands.sendBuffer(recv);
    Layout layout = operands.sent(send, count);
    operands.received(recv, count);
    Reduction reduction = operands.reduction(layout);
    Op op = operands.op();
    int from = operands.from();
    int to = operands.receiveOffset();
    String call = exclusive ? "Exscan" : "Scan";
    return team -> {
      compare(team, call, elements(count, layout), layout.base(), op, -1);
      Reductions.scan(team, send, from, recv, to, count, layout, reduction, exclusive);
    };
  }

  // Neighbours in a topology.

  private Consumer<Team> exchange(Call call, Blocks out, Blocks in, int[] neighbors) {
    int[] order = comm.neighborsInSendOrder();
    return team -> {
      compare(team, "" + call, -1, in.layout().base(), null, -1);
      Neighbors.exchange(team, call, out, in, neighbors, order);
    };
  }

  Consumer<Team> neighborAllgather(Span from, Span to) {
    int[] ranks = comm.neighbors();
    Blocks out = from.blocks(ranks.length, NEIGHBOURS, true, false);
    Blocks in = to.blocks(ranks.length, NEIGHBOURS, false, true);
    return exchange(Call.NEIGHBOR_ALLGATHER, out, in, ranks);
  }

  Consumer<Team> neighborAllgatherv(Span from, Spans to) {
    int[] ranks = comm.neighbors();
    Blocks out = from.blocks(ranks.length, NEIGHBOURS, true, false);
    Blocks in = to.blocks(ranks.length, NEIGHBOURS, true);
    return exchange(Call.NEIGHBOR_ALLGATHERV, out, in, ranks);
  }

  Consumer<Team> neighborAlltoall(Span from, Span to) {
    int[] ranks = comm.neighbors();
    Blocks out = from.blocks(ranks.length, NEIGHBOURS, false, false);
    Blocks in = to.blocks(ranks.length, NEIGHBOURS, false, true);
    return exchange(Call.NEIGHBOR_ALLTOALL, out, in, ranks);
  }

  Consumer<Team> neighborAlltoallv(Spans from, Spans to) {
    int[] ranks = comm.neighbors();
    Blocks out = from.blocks(ranks.length, NEIGHBOURS, false);
    Blocks in = to.blocks(ranks.length, NEIGHBOURS, true);
    return exchange(Call.NEIGHBOR_ALLTOALLV, out, in, ranks);
  }
}
