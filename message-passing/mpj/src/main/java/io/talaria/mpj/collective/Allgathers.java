// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;

/** Allgather and Allgatherv: elements of all come to all, in rank order. */
public final class Allgathers {
  private Allgathers() {}

  /** Gathers equal parts. A send buffer of null: this rank's part is in place. */
  public static void allgather(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout) {
    team.begin(Call.ALLGATHER);
    int n = team.size();
    int[] counts = new int[n];
    int[] places = new int[n];
    for (int i = 0; i < n; i++) {
      counts[i] = recvCount;
      places[i] = i * recvCount;
    }
    place(
        team,
        send,
        sendOffset,
        sendCount,
        sendLayout,
        recv,
        recvOffset,
        counts,
        places,
        recvLayout);
    long bytes = (long) recvCount * recvLayout.size() * recvLayout.base().bytes();
    switch (Choice.allgather(team, bytes)) {
      case "bruck" -> bruck(team, recv, recvOffset, recvCount, recvLayout);
      case "gather-bcast" -> throughRoot(team, recv, recvOffset, counts, places, recvLayout);
      default -> ring(team, recv, recvOffset, counts, places, recvLayout);
    }
  }

  /** Gathers parts of different lengths; displacements count extents of the receive type. */
  public static void allgatherv(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] recvCounts,
      int[] displacements,
      Layout recvLayout) {
    team.begin(Call.ALLGATHERV);
    place(
        team,
        send,
        sendOffset,
        sendCount,
        sendLayout,
        recv,
        recvOffset,
        recvCounts,
        displacements,
        recvLayout);
    if (Choice.plain(team, "allgatherv").equals("gather-bcast")) {
      throughRoot(team, recv, recvOffset, recvCounts, displacements, recvLayout);
    } else {
      ring(team, recv, recvOffset, recvCounts, displacements, recvLayout);
    }
  }

  private static void place(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] counts,
      int[] places,
      Layout layout) {
    if (send != null) {
      int rank = team.rank();
      Local.copy(
          send,
          sendOffset,
          sendCount,
          sendLayout,
          recv,
          recvOffset + places[rank] * layout.extent(),
          counts[rank],
          layout);
    }
  }

  private static void ring(
      Team team, Object recv, int offset, int[] counts, int[] places, Layout layout) {
    int n = team.size();
    int rank = team.rank();
    for (int step = 0; step < n - 1; step++) {
      int out = (rank - step + n) % n;
      int in = (rank - step - 1 + n) % n;
      team.exchange(
          recv,
          offset + places[out] * layout.extent(),
          counts[out],
          layout,
          (rank + 1) % n,
          recv,
          offset + places[in] * layout.extent(),
          counts[in],
          layout,
          (rank - 1 + n) % n);
    }
  }

  /** Doubles what each has, in ceil(log2 n) steps; parts are turned into place at the end. */
  private static void bruck(Team team, Object recv, int offset, int count, Layout layout) {
    int n = team.size();
    int rank = team.rank();
    int part = count * layout.size();
    Layout one = Layout.basic(layout.base(), 1);
    Object work = layout.base().newArray(part * n);
    Elements.pack(recv, offset + rank * count * layout.extent(), count, layout, work, 0);
    for (int have = 1; have < n; have *= 2) {
      int parts = Math.min(have, n - have);
      team.exchange(
          work,
          0,
          parts * part,
          one,
          (rank - have + n) % n,
          work,
          have * part,
          parts * part,
          one,
          (rank + have) % n);
    }
    for (int i = 1; i < n; i++) {
      int owner = (rank + i) % n;
      Elements.unpack(
          work, i * part, recv, offset + owner * count * layout.extent(), count, layout);
    }
  }

  private static void throughRoot(
      Team team, Object recv, int offset, int[] counts, int[] places, Layout layout) {
    int rank = team.rank();
    if (rank == 0) {
      Gathers.gathervIn(team, null, 0, 0, layout, recv, offset, counts, places, layout, 0);
    } else {
      team.send(recv, offset + places[rank] * layout.extent(), counts[rank], layout, 0);
    }
    for (int i = 0; i < team.size(); i++) {
      Bcasts.run(team, recv, offset + places[i] * layout.extent(), counts[i], layout, 0);
    }
  }
}
