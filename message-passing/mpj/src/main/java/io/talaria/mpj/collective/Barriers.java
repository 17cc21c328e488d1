// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;

/** Barrier. */
public final class Barriers {
  private static final Layout NOTHING = Layout.basic(BaseType.BYTE, 1);
  private static final byte[] EMPTY = {};

  private Barriers() {}

  /**
   * Returns when all members have called it.
   *
   * @param team who
   */
  public static void barrier(Team team) {
    team.begin(Call.BARRIER);
    if (Choice.barrier(team).equals("binomial")) {
      binomial(team);
    } else {
      dissemination(team);
    }
  }

  private static void dissemination(Team team) {
    int n = team.size();
    for (int step = 1; step < n; step *= 2) {
      int to = (team.rank() + step) % n;
      int from = (team.rank() - step + n) % n;
      team.exchange(EMPTY, 0, 0, NOTHING, to, EMPTY, 0, 0, NOTHING, from);
    }
  }

  private static void binomial(Team team) {
    int rank = team.rank();
    int n = team.size();
    int mask = 1;
    for (; mask < n && (rank & mask) == 0; mask *= 2) {
      if (rank + mask < n) {
        team.recv(EMPTY, 0, 0, NOTHING, rank + mask);
      }
    }
    if (rank != 0) {
      team.send(EMPTY, 0, 0, NOTHING, rank - mask);
      team.recv(EMPTY, 0, 0, NOTHING, rank - mask);
    }
    for (mask /= 2; mask > 0; mask /= 2) {
      if (rank + mask < n) {
        team.send(EMPTY, 0, 0, NOTHING, rank + mask);
      }
    }
  }
}
