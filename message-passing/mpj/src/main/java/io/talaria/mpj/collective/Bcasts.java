// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.engine.Transfer;

/** Bcast. */
public final class Bcasts {
  private static final int SEGMENT_BYTES = 32768;

  private Bcasts() {}

  /** Brings the root's elements to all. */
  public static void bcast(
      Team team, Object buffer, int offset, int count, Layout layout, int root) {
    team.begin(Call.BCAST);
    if (team.size() > 1) {
      run(team, buffer, offset, count, layout, root);
    }
  }

  /** The same inside another call. */
  static void run(Team team, Object buffer, int offset, int count, Layout layout, int root) {
    long bytes = (long) count * layout.size() * layout.base().bytes();
    switch (Choice.bcast(team, bytes)) {
      case "flat" -> flat(team, buffer, offset, count, layout, root);
      case "chain" -> chain(team, buffer, offset, count, layout, root);
      case "scatter-ring" -> scatterRing(team, buffer, offset, count, layout, root);
      default -> binomial(team, buffer, offset, count, layout, root);
    }
  }

  private static void flat(
      Team team, Object buffer, int offset, int count, Layout layout, int root) {
    if (team.rank() != root) {
      team.recv(buffer, offset, count, layout, root);
      return;
    }
    Transfer[] sends = new Transfer[team.size()];
    for (int i = 0; i < sends.length; i++) {
      if (i != root) {
        sends[i] = team.isend(buffer, offset, count, layout, i);
      }
    }
    for (Transfer send : sends) {
      if (send != null) {
        send.await();
      }
    }
  }

  private static void binomial(
      Team team, Object buffer, int offset, int count, Layout layout, int root) {
    int n = team.size();
    int place = (team.rank() - root + n) % n;
    int mask = 1;
    while (mask < n && (place & mask) == 0) {
      mask *= 2;
    }
    if (place != 0) {
      team.recv(buffer, offset, count, layout, (place - mask + root) % n);
    }
    for (mask /= 2; mask > 0; mask /= 2) {
      if (place + mask < n) {
        team.send(buffer, offset, count, layout, (place + mask + root) % n);
      }
    }
  }

  /**
   * Pieces go from each to the next, so that all links are busy. Ranks may describe the same
   * elements by different types, so pieces are of elements.
   */
  private static void chain(
      Team team, Object buffer, int offset, int count, Layout layout, int root) {
    BaseType base = layout.base();
    Layout one = Layout.basic(base, 1);
    int elements = count * layout.size();
    boolean inPlace = layout.dense();
    Object work = inPlace ? buffer : base.newArray(elements);
    int from = inPlace ? offset : 0;
    int n = team.size();
    int place = (team.rank() - root + n) % n;
    if (!inPlace && place == 0) {
      Elements.pack(buffer, offset, count, layout, work, 0);
    }
    int previous = (team.rank() - 1 + n) % n;
    int next = (team.rank() + 1) % n;
    int piece = SEGMENT_BYTES / base.bytes();
    Transfer sending = null;
    int done = 0;
    do {
      int now = Math.min(piece, elements - done);
      int at = from + done;
      if (place > 0) {
        team.recv(work, at, now, one, previous);
      }
      if (place < n - 1) {
        if (sending != null) {
          sending.await();
        }
        sending = team.isend(work, at, now, one, next);
      }
      done += now;
    } while (done < elements);
    if (sending != null) {
      sending.await();
    }
    if (!inPlace && place > 0) {
      Elements.unpack(work, 0, buffer, offset, count, layout);
    }
  }

  /** The root deals out a part to each, and the parts go around. */
  private static void scatterRing(
      Team team, Object buffer, int offset, int count, Layout layout, int root) {
    BaseType base = layout.base();
    int elements = count * layout.size();
    boolean inPlace = layout.dense();
    Object work = inPlace ? buffer : base.newArray(elements);
    int from = inPlace ? offset : 0;
    if (!inPlace && team.rank() == root) {
      Elements.pack(buffer, offset, count, layout, work, 0);
    }
    int n = team.size();
    Layout one = Layout.basic(base, 1);
    int rank = team.rank();
    if (rank == root) {
      Transfer[] sends = new Transfer[n];
      for (int i = 0; i < n; i++) {
        if (i != root) {
          sends[i] =
              team.isend(
                  work, from + Parts.start(elements, n, i), Parts.length(elements, n, i), one, i);
        }
      }
      for (Transfer send : sends) {
        if (send != null) {
          send.await();
        }
      }
    } else {
      team.recv(
          work, from + Parts.start(elements, n, rank), Parts.length(elements, n, rank), one, root);
    }
    int next = (rank + 1) % n;
    int previous = (rank - 1 + n) % n;
    for (int step = 0; step < n - 1; step++) {
      int out = (rank - step + n) % n;
      int in = (rank - step - 1 + n) % n;
      int outAt = from + Parts.start(elements, n, out);
      int outLength = Parts.length(elements, n, out);
      int inAt = from + Parts.start(elements, n, in);
      int inLength = Parts.length(elements, n, in);
      // The root has all parts, and its buffer may be read-only.
      if (rank == root) {
        team.send(work, outAt, outLength, one, next);
      } else if (next == root) {
        team.recv(work, inAt, inLength, one, previous);
      } else {
        team.exchange(work, outAt, outLength, one, next, work, inAt, inLength, one, previous);
      }
    }
    if (!inPlace && rank != root) {
      Elements.unpack(work, 0, buffer, offset, count, layout);
    }
  }
}
