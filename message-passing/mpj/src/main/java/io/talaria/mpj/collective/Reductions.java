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
    Accumulator sum = team.accumulator();
    Object result = team.rank() == root ? recv : null;
    sum.begin(send, sendOffset, result, recvOffset, count, count, layout, op);
    reduceIn(team, sum, count, op, root);
    sum.finish();
  }

  /** Combines to the root; what others have then is part of the result. */
  private static void reduceIn(Team team, Accumulator sum, int count, Reduction op, int root) {
    if (Choice.reduce(team).equals("flat")) {
      flat(team, sum, count, root);
      return;
    }
    // In a tree with rank 0 at its root each has a range of ranks, in order.
    int n = team.size();
    int rank = team.rank();
    int top = op.commutative() ? root : 0;
    int place = (rank - top + n) % n;
    Layout one = sum.type();
    int mask = 1;
    for (; mask < n && (place & mask) == 0; mask *= 2) {
      if (place + mask < n) {
        team.recv(sum.room(), sum.roomOffset(), count, one, (place + mask + top) % n);
        sum.combine(false);
      }
    }
    if (place != 0) {
      team.send(sum.value(), sum.offset(), count, one, (place - mask + top) % n);
    }
    if (top != root) {
      if (rank == top) {
        team.send(sum.value(), sum.offset(), count, one, root);
      } else if (rank == root) {
        team.recv(sum.room(), sum.roomOffset(), count, one, top);
        sum.replace();
      }
    }
  }

  private static Object array(Layout one, int count) {
    return one.base().newArray(one.size() * count);
  }

  private static void flat(Team team, Accumulator sum, int count, int root) {
    Layout one = sum.type();
    if (team.rank() != root) {
      team.send(sum.value(), sum.offset(), count, one, root);
      return;
    }
    // Outwards from the root: what comes before it is a left operand each time, and the rest, which
    // is combined from the last rank to the first, a right one.
    for (int i = root - 1; i >= 0; i--) {
      team.recv(sum.room(), sum.roomOffset(), count, one, i);
      sum.combine(true);
    }
    for (int i = root + 1; i < team.size(); i++) {
      team.recv(sum.room(), sum.roomOffset(), count, one, i);
      sum.combine(false);
    }
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
    Accumulator sum = team.accumulator();
    sum.begin(send, sendOffset, recv, recvOffset, count, count, layout, op);
    Layout one = sum.type();
    long bytes = (long) count * one.size() * one.base().bytes();
    switch (Choice.allreduce(team, bytes, count, op.commutative())) {
      case "reduce-bcast" -> {
        reduceIn(team, sum, count, op, 0);
        if (team.rank() == 0) {
          Bcasts.run(team, sum.value(), sum.offset(), count, one, 0);
        } else {
          Bcasts.run(team, sum.room(), sum.roomOffset(), count, one, 0);
          sum.replace();
        }
      }
      case "ring" -> ring(team, sum, count, op);
      default -> recursiveDoubling(team, sum, count);
    }
    sum.finish();
  }

  /** Neighbours in pairs first if the ranks are no power of two; all stay in rank order. */
  private static void recursiveDoubling(Team team, Accumulator sum, int count) {
    int n = team.size();
    int rank = team.rank();
    int core = Integer.highestOneBit(n);
    int extra = n - core;
    Layout one = sum.type();
    int place;
    if (rank < 2 * extra) {
      if (rank % 2 == 0) {
        team.send(sum.value(), sum.offset(), count, one, rank + 1);
        team.recv(sum.room(), sum.roomOffset(), count, one, rank + 1);
        sum.replace();
        return;
      }
      team.recv(sum.room(), sum.roomOffset(), count, one, rank - 1);
      sum.combine(true);
      place = rank / 2;
    } else {
      place = rank - extra;
    }
    for (int mask = 1; mask < core; mask *= 2) {
      int with = place ^ mask;
      int peer = with < extra ? with * 2 + 1 : with + extra;
      team.exchange(
          sum.value(),
          sum.offset(),
          count,
          one,
          peer,
          sum.room(),
          sum.roomOffset(),
          count,
          one,
          peer);
      sum.combine(with < place);
    }
    if (rank < 2 * extra) {
      team.send(sum.value(), sum.offset(), count, one, rank - 1);
    }
  }

  /** Parts go around and are summed up, then the sums go around. */
  private static void ring(Team team, Accumulator sum, int count, Reduction op) {
    int n = team.size();
    int rank = team.rank();
    int next = (rank + 1) % n;
    int previous = (rank - 1 + n) % n;
    Layout one = sum.type();
    Object mine = sum.value();
    int mineAt = sum.offset();
    // Of the program's operands none is overwritten: the sums go to its receive buffer.
    boolean given = sum.given();
    Object sums = given ? sum.room() : mine;
    int sumsAt = given ? sum.roomOffset() : mineAt;
    Object incoming = given ? sums : sum.room();
    for (int step = 0; step < n - 1; step++) {
      int out = (rank - step + n) % n;
      int in = (rank - step - 1 + n) % n;
      int length = Parts.length(count, n, in);
      int outStart = Parts.start(count, n, out) * one.size();
      int inStart = Parts.start(count, n, in) * one.size();
      int incomingAt = given ? sumsAt + inStart : 0;
      team.exchange(
          step == 0 ? mine : sums,
          (step == 0 ? mineAt : sumsAt) + outStart,
          Parts.length(count, n, out),
          one,
          next,
          incoming,
          incomingAt,
          length,
          one,
          previous);
      if (given) {
        op.apply(mine, mineAt + inStart, sums, sumsAt + inStart, length, one);
      } else {
        op.apply(incoming, 0, sums, sumsAt + inStart, length, one);
      }
    }
    for (int step = 0; step < n - 1; step++) {
      int out = (rank + 1 - step + n) % n;
      int in = (rank - step + n) % n;
      team.exchange(
          sums,
          sumsAt + Parts.start(count, n, out) * one.size(),
          Parts.length(count, n, out),
          one,
          next,
          sums,
          sumsAt + Parts.start(count, n, in) * one.size(),
          Parts.length(count, n, in),
          one,
          previous);
    }
    if (given && n > 1) {
      sum.replace();
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
    Accumulator sum = team.accumulator();
    if (Choice.reduceScatter(team, op.commutative()).equals("pairwise")) {
      sum.begin(send, sendOffset, recv, recvOffset, count, counts[rank], layout, op);
      Layout one = sum.type();
      Object operands = sum.value();
      int operandsAt = sum.offset();
      sum.narrow(places[rank]);
      for (int step = 1; step < n; step++) {
        int to = (rank + step) % n;
        int from = (rank - step + n) % n;
        team.exchange(
            operands,
            operandsAt + places[to] * one.size(),
            counts[to],
            one,
            to,
            sum.room(),
            sum.roomOffset(),
            counts[rank],
            one,
            from);
        sum.combine(true);
      }
      sum.finish();
      return;
    }
    sum.begin(send, sendOffset, null, 0, count, count, layout, op);
    reduceIn(team, sum, count, op, 0);
    Layout one = sum.type();
    Object mine = array(one, counts[rank]);
    Scatters.scattervIn(
        team, sum.value(), sum.offset(), counts, places, one, mine, 0, counts[rank], one, 0);
    sum.forget();
    Elements.unpack(mine, 0, recv, recvOffset, counts[rank], layout);
  }

  private static Object load(Object buffer, int offset, int count, Layout layout) {
    return Accumulator.load(buffer, offset, count, layout, array(layout, count));
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
    Layout one = Accumulator.packed(layout);
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
