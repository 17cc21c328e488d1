// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.engine.Transfer;

/** Gather and Gatherv: elements of all come to the root, in rank order. */
public final class Gathers {
  private Gathers() {}

  /** Gathers equal parts. A send buffer of null at the root: its part is in place. */
  public static void gather(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout,
      int root) {
    team.begin(Call.GATHER);
    // The root's part may be in place; its receive arguments say the same.
    long bytes = team.rank() == root ? bytes(recvCount, recvLayout) : bytes(sendCount, sendLayout);
    if (Choice.gather(team, bytes).equals("binomial")) {
      binomial(
          team,
          send,
          sendOffset,
          sendCount,
          sendLayout,
          recv,
          recvOffset,
          recvCount,
          recvLayout,
          root);
      return;
    }
    if (team.rank() != root) {
      team.send(send, sendOffset, sendCount, sendLayout, root);
      return;
    }
    int n = team.size();
    int[] counts = new int[n];
    int[] displacements = new int[n];
    for (int i = 0; i < n; i++) {
      counts[i] = recvCount;
      displacements[i] = i * recvCount * recvLayout.extent();
    }
    collect(
        team,
        send,
        sendOffset,
        sendCount,
        sendLayout,
        recv,
        recvOffset,
        counts,
        displacements,
        recvLayout,
        false);
  }

  private static long bytes(int count, Layout layout) {
    return (long) count * layout.size() * layout.base().bytes();
  }

  /** Gathers parts of different lengths; displacements count extents of the receive type. */
  public static void gatherv(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] recvCounts,
      int[] displacements,
      Layout recvLayout,
      int root) {
    team.begin(Call.GATHERV);
    gathervIn(
        team,
        send,
        sendOffset,
        sendCount,
        sendLayout,
        recv,
        recvOffset,
        recvCounts,
        displacements,
        recvLayout,
        root);
  }

  static void gathervIn(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] recvCounts,
      int[] displacements,
      Layout recvLayout,
      int root) {
    boolean ordered = Choice.plain(team, "gatherv").equals("ordered");
    if (team.rank() != root) {
      team.send(send, sendOffset, sendCount, sendLayout, root);
      return;
    }
    int[] places = new int[team.size()];
    for (int i = 0; i < places.length; i++) {
      places[i] = displacements[i] * recvLayout.extent();
    }
    collect(
        team,
        send,
        sendOffset,
        sendCount,
        sendLayout,
        recv,
        recvOffset,
        recvCounts,
        places,
        recvLayout,
        ordered);
  }

  /** The root's side of a flat gather: all receives at once, or one after the other. */
  private static void collect(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] counts,
      int[] places,
      Layout recvLayout,
      boolean ordered) {
    int n = team.size();
    Transfer[] receives = new Transfer[n];
    for (int i = 0; i < n; i++) {
      if (i != team.rank()) {
        receives[i] = team.irecv(recv, recvOffset + places[i], counts[i], recvLayout, i);
        if (ordered) {
          team.finish(receives[i], i);
        }
      } else if (send != null) {
        Local.copy(
            send,
            sendOffset,
            sendCount,
            sendLayout,
            recv,
            recvOffset + places[i],
            counts[i],
            recvLayout);
      }
    }
    for (int i = 0; i < n && !ordered; i++) {
      if (receives[i] != null) {
        team.finish(receives[i], i);
      }
    }
  }

  /** Each passes on what it has collected from its subtree, packed. */
  private static void binomial(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout,
      int root) {
    int n = team.size();
    int rank = team.rank();
    int place = (rank - root + n) % n;
    boolean isRoot = rank == root;
    BaseType base = isRoot ? recvLayout.base() : sendLayout.base();
    int part = isRoot ? recvCount * recvLayout.size() : sendCount * sendLayout.size();
    Layout one = Layout.basic(base, 1);
    int subtree = Math.min(place == 0 ? n : Integer.lowestOneBit(place), n - place);
    Object work = base.newArray(part * subtree);
    if (send != null) {
      // The root's own part gets from here into its receive buffer.
      Elements.packValues(send, sendOffset, sendCount, sendLayout, work, 0, false);
    } else {
      Elements.pack(
          recv,
          recvOffset + rank * recvCount * recvLayout.extent(),
          recvCount,
          recvLayout,
          work,
          0);
    }
    int mask = 1;
    for (; mask < n && (place & mask) == 0; mask *= 2) {
      if (place + mask < n) {
        int parts = Math.min(mask, n - place - mask);
        team.recv(work, mask * part, parts * part, one, (place + mask + root) % n);
      }
    }
    if (!isRoot) {
      team.send(work, 0, part * subtree, one, (place - mask + root) % n);
      return;
    }
    for (int i = 0; i < n; i++) {
      int owner = (i + root) % n;
      if (send != null || owner != rank) {
        Elements.unpack(
            work,
            i * part,
            recv,
            recvOffset + owner * recvCount * recvLayout.extent(),
            recvCount,
            recvLayout);
      }
    }
  }
}
