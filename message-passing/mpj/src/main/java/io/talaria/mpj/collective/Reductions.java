// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;

/**
 * Reduce, Allreduce, Reduce_scatter, Scan and Exscan. Operands of what does not commute are always
 * taken in rank order; the same call on as many ranks gives the same bits again.
 */
public final class Reductions {
  private Reductions() {}

  /**
   * A dense copy of what a rank contributes. The operation may change objects in place: so none of
   * them is the program's, and none is there twice.
   */
  private static Object load(Object buffer, int offset, int count, Layout layout) {
    Object work = layout.base().newArray(count * layout.size());
    Elements.packValues(buffer, offset, count, layout, work, 0, true);
    return work;
  }

  /** Datatypes of the layout without its gaps. */
  private static Layout packed(Layout layout) {
    return Layout.basic(layout.base(), layout.size());
  }

  /** Combines to the root. */
  public static void reduce(
      Team team,
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int count,
      Layout layout,
      Reduction op,
      int root) {
    team.begin(Call.REDUCE);
    Layout one = packed(layout);
    Object work = load(send, sendOffset, count, layout);
    work = reduceIn(team, work, count, one, op, root);
    if (team.rank() == root) {
      Elements.unpack(work, 0, recv, recvOffset, count, layout);
    }
  }

  /** Combines dense arrays; the root gets the result, others something to forget. */
  private static Object reduceIn(
      Team team, Object work, int count, Layout one, Reduction op, int root) {
    if (Choice.reduce(team).equals("flat")) {
      return flat(team, work, count, one, op, root);
    }
    // In a tree with rank 0 at its root each has a range of ranks, in order.
    int n = team.size();
    int rank = team.rank();
    int top = op.commutative() ? root : 0;
    int place = (rank - top + n) % n;
    Object right = place + 1 < n && place % 2 == 0 ? array(one, count) : null;
    int mask = 1;
    for (; mask < n && (place & mask) == 0; mask *= 2) {
      if (place + mask < n) {
        team.recv(right, 0, count, one, (place + mask + top) % n);
        op.apply(work, 0, right, 0, count, one);
        Object swap = work;
        work = right;
        right = swap;
      }
    }
    if (place != 0) {
      team.send(work, 0, count, one, (place - mask + top) % n);
    }
    if (top != root) {
      if (rank == top) {
        team.send(work, 0, count, one, root);
      } else if (rank == root) {
        team.recv(work, 0, count, one, top);
      }
    }
    return work;
  }

  private static Object array(Layout one, int count) {
    return one.base().newArray(one.size() * count);
  }

  private static Object flat(
      Team team, Object work, int count, Layout one, Reduction op, int root) {
    if (team.rank() != root) {
      team.send(work, 0, count, one, root);
      return work;
    }
    // From the last rank to the first: result = rank OP (what comes after it).
    Object result = null;
    for (int i = team.size() - 1; i >= 0; i--) {
      Object operand = work;
      if (i != root) {
        operand = array(one, count);
        team.recv(operand, 0, count, one, i);
      }
      if (result == null) {
        result = operand;
      } else {
        op.apply(operand, 0, result, 0, count, one);
      }
    }
    return result;
  }

  /** Combines to all. */
  public static void allreduce(
      Team team,
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int count,
      Layout layout,
      Reduction op) {
    team.begin(Call.ALLREDUCE);
    Layout one = packed(layout);
    Object work = load(send, sendOffset, count, layout);
    long bytes = (long) count * one.size() * one.base().bytes();
    switch (Choice.allreduce(team, bytes, count, op.commutative())) {
      case "reduce-bcast" -> {
        work = reduceIn(team, work, count, one, op, 0);
        Bcasts.run(team, work, 0, count, one, 0);
      }
      case "ring" -> ring(team, work, count, one, op);
      default -> work = recursiveDoubling(team, work, count, one, op);
    }
    Elements.unpack(work, 0, recv, recvOffset, count, layout);
  }

  /** Neighbours in pairs first if the ranks are no power of two; all stay in rank order. */
  private static Object recursiveDoubling(
      Team team, Object work, int count, Layout one, Reduction op) {
    int n = team.size();
    int rank = team.rank();
    int core = Integer.highestOneBit(n);
    int extra = n - core;
    Object other = n > 1 ? array(one, count) : null;
    int place;
    if (rank < 2 * extra) {
      if (rank % 2 == 0) {
        team.send(work, 0, count, one, rank + 1);
        team.recv(work, 0, count, one, rank + 1);
        return work;
      }
      team.recv(other, 0, count, one, rank - 1);
      op.apply(other, 0, work, 0, count, one);
      place = rank / 2;
    } else {
      place = rank - extra;
    }
    for (int mask = 1; mask < core; mask *= 2) {
      int with = place ^ mask;
      int peer = with < extra ? with * 2 + 1 : with + extra;
      team.exchange(work, 0, count, one, peer, other, 0, count, one, peer);
      if (with < place) {
        op.apply(other, 0, work, 0, count, one);
      } else {
        op.apply(work, 0, other, 0, count, one);
        Object swap = work;
        work = other;
        other = swap;
      }
    }
    if (rank < 2 * extra) {
      team.send(work, 0, count, one, rank - 1);
    }
    return work;
  }

  /** Parts go around and are summed up, then the sums go around. */
  private static void ring(Team team, Object work, int count, Layout one, Reduction op) {
    int n = team.size();
    int rank = team.rank();
    int next = (rank + 1) % n;
    int previous = (rank - 1 + n) % n;
    Object incoming = array(one, count / n + 1);
    for (int step = 0; step < n - 1; step++) {
      int out = (rank - step + n) % n;
      int in = (rank - step - 1 + n) % n;
      int length = Parts.length(count, n, in);
      team.exchange(
          work,
          Parts.start(count, n, out) * one.size(),
          Parts.length(count, n, out),
          one,
          next,
          incoming,
          0,
          length,
          one,
          previous);
      op.apply(incoming, 0, work, Parts.start(count, n, in) * one.size(), length, one);
    }
    for (int step = 0; step < n - 1; step++) {
      int out = (rank + 1 - step + n) % n;
      int in = (rank - step + n) % n;
      team.exchange(
          work,
          Parts.start(count, n, out) * one.size(),
          Parts.length(count, n, out),
          one,
          next,
          work,
          Parts.start(count, n, in) * one.size(),
          Parts.length(count, n, in),
          one,
          previous);
    }
  }

  /** Combines, and deals the result out by counts. */
  public static void reduceScatter(
      Team team,
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int[] counts,
      Layout layout,
      Reduction op) {
    team.begin(Call.REDUCE_SCATTER);
    int n = team.size();
    int rank = team.rank();
    int[] places = new int[n];
    int count = 0;
    for (int i = 0; i < n; i++) {
      places[i] = count;
      count += counts[i];
    }
    Layout one = packed(layout);
    Object work = load(send, sendOffset, count, layout);
    if (Choice.reduceScatter(team, op.commutative()).equals("pairwise")) {
      Object incoming = array(one, counts[rank]);
      for (int step = 1; step < n; step++) {
        int to = (rank + step) % n;
        int from = (rank - step + n) % n;
        team.exchange(
            work,
            places[to] * one.size(),
            counts[to],
            one,
            to,
            incoming,
            0,
            counts[rank],
            one,
            from);
        op.apply(incoming, 0, work, places[rank] * one.size(), counts[rank], one);
      }
      Elements.unpack(work, places[rank] * one.size(), recv, recvOffset, counts[rank], layout);
      return;
    }
    work = reduceIn(team, work, count, one, op, 0);
    Object mine = array(one, counts[rank]);
    Scatters.scattervIn(team, work, 0, counts, places, one, mine, 0, counts[rank], one, 0);
    Elements.unpack(mine, 0, recv, recvOffset, counts[rank], layout);
  }

  /** Combines what ranks up to this one have; without this one's if exclusive. */
  public static void scan(
      Team team,
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int count,
      Layout layout,
      Reduction op,
      boolean exclusive) {
    team.begin(exclusive ? Call.EXSCAN : Call.SCAN);
    Layout one = packed(layout);
    Object mine = load(send, sendOffset, count, layout);
    boolean linear = Choice.plain(team, exclusive ? "exscan" : "scan").equals("linear");
    Object before =
        linear ? chain(team, mine, count, one, op) : doubling(team, mine, count, one, op);
    if (exclusive) {
      if (before != null) {
        Elements.unpack(before, 0, recv, recvOffset, count, layout);
      }
      return;
    }
    if (before != null) {
      op.apply(before, 0, mine, 0, count, one);
    }
    Elements.unpack(mine, 0, recv, recvOffset, count, layout);
  }

  /** What all ranks before this one have together, or null at rank 0. Leaves mine as it is. */
  private static Object chain(Team team, Object mine, int count, Layout one, Reduction op) {
    int rank = team.rank();
    Object before = null;
    Object through = mine;
    if (rank > 0) {
      before = array(one, count);
      team.recv(before, 0, count, one, rank - 1);
    }
    if (rank < team.size() - 1) {
      if (before != null) {
        through = load(mine, 0, count, one);
        op.apply(before, 0, through, 0, count, one);
      }
      team.send(through, 0, count, one, rank + 1);
    }
    return before;
  }

  private static Object doubling(Team team, Object mine, int count, Layout one, Reduction op) {
    int n = team.size();
    int rank = team.rank();
    Object before = null;
    // Sum of a range of ranks that ends with this one.
    Object range = load(mine, 0, count, one);
    for (int step = 1; step < n; step *= 2) {
      Object incoming = array(one, count);
      boolean out = rank + step < n;
      boolean in = rank - step >= 0;
      if (out && in) {
        team.exchange(range, 0, count, one, rank + step, incoming, 0, count, one, rank - step);
      } else if (out) {
        team.send(range, 0, count, one, rank + step);
      } else if (in) {
        team.recv(incoming, 0, count, one, rank - step);
      }
      if (in) {
        // An operation may leave objects of its left operands in the result, and change them later.
        boolean objects = one.base() == BaseType.OBJECT;
        Object again = objects ? load(incoming, 0, count, one) : incoming;
        op.apply(incoming, 0, range, 0, count, one);
        if (before == null) {
          before = again;
        } else {
          op.apply(again, 0, before, 0, count, one);
        }
      }
    }
    return before;
  }

  /** The base type that a reduction works on; for messages. */
  static BaseType base(Layout layout) {
    return layout.base();
  }
}
