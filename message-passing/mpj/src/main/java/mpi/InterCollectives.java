// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Blocks;
import io.talaria.mpj.collective.Call;
import io.talaria.mpj.collective.Reduction;
import io.talaria.mpj.collective.TwoGroups;
import io.talaria.mpj.datatype.Layout;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The collectives of an inter-communicator. Each method checks the arguments of a call, and returns
 * what is left to do. What has a root goes from one group to the other: the root passes MPI.ROOT,
 * the other ranks of its group PROC_NULL, those of the other group its rank.
 */
final class InterCollectives {
  private static final String OTHERS = "ranks of the other group";
  private static final Consumer<TwoGroups> BARRIER = TwoGroups::barrier;

  /** Number of ranks in the other group. */
  private final int others;

  /** Number of ranks in this group, and of this one. */
  private final int size;

  private final int rank;

  InterCollectives(int others, int size, int rank) {
    this.others = others;
    this.size = size;
    this.rank = rank;
  }

  private int root(int root) {
    if (root == MPI.ROOT) {
      return TwoGroups.ROOT;
    }
    if (root == MPI.PROC_NULL) {
      return TwoGroups.ROOT_IS_BESIDE;
    }
    if (root < 0 || root >= others) {
      throw new MPIException(
          MPIException.ERR_ROOT,
          "root "
              + root
              + ": MPI.ROOT, PROC_NULL, or 0 to "
              + (others - 1)
              + " in the other group is allowed");
    }
    return root;
  }

  private Blocks toEach(Span parts) {
    return parts.blocks(others, OTHERS, false, false);
  }

  private Blocks toEach(Spans parts) {
    return parts.blocks(others, OTHERS, false);
  }

  private Blocks toAll(Span part) {
    return part.blocks(others, OTHERS, true, false);
  }

  private Blocks fromEach(Span parts) {
    return parts.blocks(others, OTHERS, false, true);
  }

  private Blocks fromEach(Spans parts) {
    return parts.blocks(others, OTHERS, true);
  }

  private Blocks fromRoot(Span part) {
    return part.blocks(others, OTHERS, true, true);
  }

  Consumer<TwoGroups> barrier() {
    return BARRIER;
  }

  Consumer<TwoGroups> bcast(Span elements, int root) {
    int from = root(root);
    Object buffer = elements.buffer();
    Layout layout =
        from == TwoGroups.ROOT_IS_BESIDE ? null : elements.check(buffer, 1, from != TwoGroups.ROOT);
    return groups -> groups.bcast(buffer, elements.offset(), elements.count(), layout, from);
  }

  Consumer<TwoGroups> gather(Span from, Span to, int root) {
    int at = root(root);
    Blocks out = at >= 0 ? toAll(from) : null;
    Blocks in = at == TwoGroups.ROOT ? fromEach(to) : null;
    return groups -> groups.gather(Call.GATHER, out, in, at);
  }

  Consumer<TwoGroups> gatherv(Span from, Spans to, int root) {
    int at = root(root);
    Blocks out = at >= 0 ? toAll(from) : null;
    Blocks in = at == TwoGroups.ROOT ? fromEach(to) : null;
    return groups -> groups.gather(Call.GATHERV, out, in, at);
  }

  Consumer<TwoGroups> scatter(Span from, Span to, int root) {
    int at = root(root);
    Blocks out = at == TwoGroups.ROOT ? toEach(from) : null;
    Blocks in = at >= 0 ? fromRoot(to) : null;
    return groups -> groups.scatter(Call.SCATTER, out, in, at);
  }

  Consumer<TwoGroups> scatterv(Spans from, Span to, int root) {
    int at = root(root);
    Blocks out = at == TwoGroups.ROOT ? toEach(from) : null;
    Blocks in = at >= 0 ? fromRoot(to) : null;
    return groups -> groups.scatter(Call.SCATTERV, out, in, at);
  }

  private static Consumer<TwoGroups> exchange(Call call, Blocks out, Blocks in) {
    return groups -> groups.exchange(call, out, in);
  }

  Consumer<TwoGroups> allgather(Span from, Span to) {
    return exchange(Call.ALLGATHER, toAll(from), fromEach(to));
  }

  Consumer<TwoGroups> allgatherv(Span from, Spans to) {
    return exchange(Call.ALLGATHERV, toAll(from), fromEach(to));
  }

  Consumer<TwoGroups> alltoall(Span from, Span to) {
    return exchange(Call.ALLTOALL, toEach(from), fromEach(to));
  }

  Consumer<TwoGroups> alltoallv(Spans from, Spans to) {
    return exchange(Call.ALLTOALLV, toEach(from), fromEach(to));
  }

  Consumer<TwoGroups> reduce(Operands operands, int count, int root) {
    int at = root(root);
    if (at == TwoGroups.ROOT_IS_BESIDE) {
      return groups -> groups.reduce(null, 0, null, 0, 0, null, null, at);
    }
    boolean isRoot = at == TwoGroups.ROOT;
    Object send = isRoot ? null : sendBuffer(operands);
    Object recv = isRoot ? operands.receiveBuffer() : null;
    Layout layout = isRoot ? operands.received(recv, count) : operands.sent(send, count);
    Reduction reduction = operands.reduction(layout);
    int from = operands.sendOffset();
    int to = operands.receiveOffset();
    return groups -> groups.reduce(send, from, recv, to, count, layout, reduction, at);
  }

  Consumer<TwoGroups> allreduce(Operands operands, int count) {
    Object send = sendBuffer(operands);
    Object recv = operands.receiveBuffer();
    Layout layout = operands.sent(send, count);
    operands.received(recv, count);
    Reduction reduction = operands.reduction(layout);
    int from = operands.sendOffset();
    int to = operands.receiveOffset();
    return groups -> groups.allreduce(send, from, recv, to, count, layout, reduction);
  }

  Consumer<TwoGroups> reduceScatter(Operands operands, int[] counts) {
    Spans.oneForEach(size, "ranks", counts, "the array of counts");
    int[] own = Arrays.copyOf(counts, size);
    long total = Operands.sum(own, size);
    Object send = sendBuffer(operands);
    Object recv = operands.receiveBuffer();
    Layout layout = operands.sent(send, total);
    operands.received(recv, own[rank]);
    Reduction reduction = operands.reduction(layout);
    int from = operands.sendOffset();
    int to = operands.receiveOffset();
    return groups -> groups.reduceScatter(send, from, recv, to, own, layout, reduction);
  }

  /** MPI has no IN_PLACE between groups. */
  private static Object sendBuffer(Operands operands) {
    if (operands.inPlace()) {
      throw new MPIException(MPIException.ERR_BUFFER, "IN_PLACE is not allowed between two groups");
    }
    return operands.sendBuffer(null);
  }
}
