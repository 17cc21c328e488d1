// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.engine.Transfer;

/** Scatter and Scatterv: the root deals out parts, in rank order. */
public final class Scatters {
  private Scatters() {}

  /** Deals out equal parts. A receive buffer of null at the root: its part stays. */
  public static void scatter(
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
    team.begin(Call.SCATTER);
    long bytes =
        team.rank() == root
            ? (long) sendCount * sendLayout.size() * sendLayout.base().bytes()
            : (long) recvCount * recvLayout.size() * recvLayout.base().bytes();
    if (Choice.scatter(team, bytes).equals("binomial")) {
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
      team.recv(recv, recvOffset, recvCount, recvLayout, root);
      return;
    }
    int n = team.size();
    int[] counts = new int[n];
    int[] places = new int[n];
    for (int i = 0; i < n; i++) {
      counts[i] = sendCount;
      places[i] = i * sendCount * sendLayout.extent();
    }
    deal(
        team,
        send,
        sendOffset,
        counts,
        places,
        sendLayout,
        recv,
        recvOffset,
        recvCount,
        recvLayout,
        false);
  }

  /** Deals out parts of different lengths; displacements count extents of the send type. */
  public static void scatterv(
      Team team,
      Object send,
      int sendOffset,
      int[] sendCounts,
      int[] displacements,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout,
      int root) {
    team.begin(Call.SCATTERV);
    scattervIn(
        team,
        send,
        sendOffset,
        sendCounts,
        displacements,
        sendLayout,
        recv,
        recvOffset,
        recvCount,
        recvLayout,
        root);
  }

  static void scattervIn(
      Team team,
      Object send,
      int sendOffset,
      int[] sendCounts,
      int[] displacements,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout,
      int root) {
    boolean ordered = Choice.plain(team, "scatterv").equals("ordered");
    if (team.rank() != root) {
      team.recv(recv, recvOffset, recvCount, recvLayout, root);
      return;
    }
    int[] places = new int[team.size()];
    for (int i = 0; i < places.length; i++) {
      places[i] = displacements[i] * sendLayout.extent();
    }
    deal(
        team,
        send,
        sendOffset,
        sendCounts,
        places,
        sendLayout,
        recv,
        recvOffset,
        recvCount,
        recvLayout,
        ordered);
  }

  private static void deal(
      Team team,
      Object send,
      int sendOffset,
      int[] counts,
      int[] places,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout,
      boolean ordered) {
    int n = team.size();
    Transfer[] sends = new Transfer[n];
    for (int i = 0; i < n; i++) {
      if (i != team.rank()) {
        sends[i] = team.isend(send, sendOffset + places[i], counts[i], sendLayout, i);
        if (ordered) {
          sends[i].await();
        }
      } else if (recv != null) {
        Local.copy(
            send,
            sendOffset + places[i],
            counts[i],
            sendLayout,
            recv,
            recvOffset,
            recvCount,
            recvLayout);
      }
    }
    for (Transfer t : sends) {
      if (t != null) {
        t.await();
      }
    }
  }

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
    BaseType base = isRoot ? sendLayout.base() : recvLayout.base();
    int part = isRoot ? sendCount * sendLayout.size() : recvCount * recvLayout.size();
    Layout one = Layout.basic(base, 1);
    int subtree = Math.min(place == 0 ? n : Integer.lowestOneBit(place), n - place);
    Object work = base.newArray(part * subtree);
    int mask = 1;
    while (mask < n && (place & mask) == 0) {
      mask *= 2;
    }
    if (isRoot) {
      for (int i = 0; i < n; i++) {
        int owner = (i + root) % n;
        int at = sendOffset + owner * sendCount * sendLayout.extent();
        if (owner == rank) {
          // Its own part gets from here into its receive buffer.
          Elements.packValues(send, at, sendCount, sendLayout, work, i * part, false);
        } else {
          Elements.pack(send, at, sendCount, sendLayout, work, i * part);
        }
      }
    } else {
      team.recv(work, 0, part * subtree, one, (place - mask + root) % n);
    }
    for (mask /= 2; mask > 0; mask /= 2) {
      if (place + mask < n) {
        int parts = Math.min(mask, n - place - mask);
        team.send(work, mask * part, parts * part, one, (place + mask + root) % n);
      }
    }
    if (recv != null) {
      Elements.unpack(work, 0, recv, recvOffset, recvCount, recvLayout);
    }
  }
}
