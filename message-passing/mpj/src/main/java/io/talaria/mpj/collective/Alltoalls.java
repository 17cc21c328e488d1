// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.engine.Transfer;

/** Alltoall and Alltoallv: each sends each a part of its own. */
public final class Alltoalls {
  private Alltoalls() {}

  /** Exchanges equal parts. */
  public static void alltoall(
      Team team,
      Object send,
      int sendOffset,
      int sendCount,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int recvCount,
      Layout recvLayout) {
    team.begin(Call.ALLTOALL);
    int n = team.size();
    int[] sendCounts = new int[n];
    int[] sendPlaces = new int[n];
    int[] recvCounts = new int[n];
    int[] recvPlaces = new int[n];
    for (int i = 0; i < n; i++) {
      sendCounts[i] = sendCount;
      sendPlaces[i] = i * sendCount;
      recvCounts[i] = recvCount;
      recvPlaces[i] = i * recvCount;
    }
    long bytes = (long) recvCount * recvLayout.size() * recvLayout.base().bytes();
    run(
        team,
        Choice.alltoall(team, bytes),
        send,
        sendOffset,
        sendCounts,
        sendPlaces,
        sendLayout,
        recv,
        recvOffset,
        recvCounts,
        recvPlaces,
        recvLayout);
  }

  /** Exchanges parts of different lengths; displacements count extents of the types. */
  public static void alltoallv(
      Team team,
      Object send,
      int sendOffset,
      int[] sendCounts,
      int[] sendPlaces,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] recvCounts,
      int[] recvPlaces,
      Layout recvLayout) {
    team.begin(Call.ALLTOALLV);
    run(
        team,
        Choice.plain(team, "alltoallv"),
        send,
        sendOffset,
        sendCounts,
        sendPlaces,
        sendLayout,
        recv,
        recvOffset,
        recvCounts,
        recvPlaces,
        recvLayout);
  }

  private static void run(
      Team team,
      String algorithm,
      Object send,
      int sendOffset,
      int[] sendCounts,
      int[] sendPlaces,
      Layout sendLayout,
      Object recv,
      int recvOffset,
      int[] recvCounts,
      int[] recvPlaces,
      Layout recvLayout) {
    int n = team.size();
    int rank = team.rank();
    Local.copy(
        send,
        sendOffset + sendPlaces[rank] * sendLayout.extent(),
        sendCounts[rank],
        sendLayout,
        recv,
        recvOffset + recvPlaces[rank] * recvLayout.extent(),
        recvCounts[rank],
        recvLayout);
    if (algorithm.equals("pairwise")) {
      for (int step = 1; step < n; step++) {
        int to = (rank + step) % n;
        int from = (rank - step + n) % n;
        team.exchange(
            send,
            sendOffset + sendPlaces[to] * sendLayout.extent(),
            sendCounts[to],
            sendLayout,
            to,
            recv,
            recvOffset + recvPlaces[from] * recvLayout.extent(),
            recvCounts[from],
            recvLayout,
            from);
      }
      return;
    }
    Transfer[] receives = new Transfer[n];
    Transfer[] sends = new Transfer[n];
    for (int step = 1; step < n; step++) {
      int from = (rank - step + n) % n;
      receives[from] =
          team.irecv(
              recv,
              recvOffset + recvPlaces[from] * recvLayout.extent(),
              recvCounts[from],
              recvLayout,
              from);
    }
    for (int step = 1; step < n; step++) {
      int to = (rank + step) % n;
      sends[to] =
          team.isend(
              send,
              sendOffset + sendPlaces[to] * sendLayout.extent(),
              sendCounts[to],
              sendLayout,
              to);
    }
    for (int step = 1; step < n; step++) {
      int from = (rank - step + n) % n;
      team.finish(receives[from], from);
    }
    for (Transfer t : sends) {
      if (t != null) {
        t.await();
      }
    }
  }
}
