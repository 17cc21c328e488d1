// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.engine.Transfer;

/**
 * Collectives between two groups. What has a root goes from one group to the other, to or from that
 * rank; what has none goes both ways. A rank exchanges with ranks of the other group, or its group
 * does by a leader.
 */
public final class TwoGroups {
  /** The root of a collective: this rank. */
  public static final int ROOT = -4;

  /** The root of a collective: another rank of this group. */
  public static final int ROOT_IS_BESIDE = -3;

  private static final Layout BYTE = Layout.basic(BaseType.BYTE, 1);

  private final Team local;
  private final Team remote;
  private final int leader;
  private final int remoteLeader;

  /**
   * For an inter-communicator.
   *
   * @param local the ranks of this group
   * @param remote the ranks of the other group, which this one exchanges messages with
   * @param leader this group's
   * @param remoteLeader the other group's
   */
  public TwoGroups(Team local, Team remote, int leader, int remoteLeader) {
    this.local = local;
    this.remote = remote;
    this.leader = leader;
    this.remoteLeader = remoteLeader;
  }

  private boolean leads() {
    return local.rank() == leader;
  }

  /** Returns when all ranks of the other group have called it. */
  public void barrier() {
    remote.begin(Call.BARRIER);
    Barriers.barrier(local);
    byte[] none = new byte[2];
    if (leads()) {
      remote.exchange(none, 0, 1, BYTE, remoteLeader, none, 1, 1, BYTE, remoteLeader);
    }
    Barriers.barrier(local);
  }

  /** Brings the root's elements to all of the other group. */
  public void bcast(Object buffer, int offset, int count, Layout layout, int root) {
    remote.begin(Call.BCAST);
    if (root == ROOT) {
      remote.send(buffer, offset, count, layout, remoteLeader);
    } else if (root >= 0) {
      if (leads()) {
        remote.recv(buffer, offset, count, layout, root);
      }
      Bcasts.bcast(local, buffer, offset, count, layout, leader);
    }
  }

  /**
   * Elements of all of a group come to a rank of the other.
   *
   * @param out what this rank sends to the root, its block 0; null if it sends nothing
   * @param in what the root receives, else null
   */
  public void gather(Call call, Blocks out, Blocks in, int root) {
    remote.begin(call);
    if (root == ROOT) {
      receive(in);
    } else if (root >= 0) {
      remote.send(out.buffer, out.at(0), out.count(0), out.layout, root);
    }
  }

  private void receive(Blocks in) {
    Transfer[] receives = startReceives(in);
    for (int i = 0; i < receives.length; i++) {
      remote.finish(receives[i], i);
    }
  }

  private Transfer[] startReceives(Blocks in) {
    Transfer[] receives = new Transfer[remote.size()];
    for (int i = 0; i < receives.length; i++) {
      receives[i] = remote.irecv(in.buffer, in.at(i), in.count(i), in.layout, i);
    }
    return receives;
  }

  private Transfer[] startSends(Blocks out) {
    Transfer[] sends = new Transfer[remote.size()];
    for (int i = 0; i < sends.length; i++) {
      sends[i] = remote.isend(out.buffer, out.at(i), out.count(i), out.layout, i);
    }
    return sends;
  }

  private static void await(Transfer[] sends) {
    for (Transfer send : sends) {
      send.await();
    }
  }

  /**
   * A rank deals elements out to all of the other group.
   *
   * @param out what the root sends, else null
   * @param in what this rank receives from the root, its block 0; null if it receives nothing
   */
  public void scatter(Call call, Blocks out, Blocks in, int root) {
    remote.begin(call);
    if (root == ROOT) {
      await(startSends(out));
    } else if (root >= 0) {
      remote.recv(in.buffer, in.at(0), in.count(0), in.layout, root);
    }
  }

  /** Each rank sends each of the other group a block, and receives one from each. */
  public void exchange(Call call, Blocks out, Blocks in) {
    remote.begin(call);
    Transfer[] receives = startReceives(in);
    Transfer[] sends = startSends(out);
    for (int i = 0; i < receives.length; i++) {
      remote.finish(receives[i], i);
    }
    await(sends);
  }

  /** A buffer for elements of a layout, and the offset of the first layout in it. */
  private record Room(Object buffer, int offset) {
    static Room of(Layout layout, int count) {
      long last = (count - 1L) * layout.extent();
      long first = Math.min(0, layout.first() + Math.min(0, last));
      long end = Math.max(0, layout.end() + Math.max(0, last));
      int length = count == 0 ? 0 : Math.toIntExact(end - first);
      return new Room(layout.base().newArray(length), Math.toIntExact(-first));
    }
  }

  /** Combines the elements of this group, at its leader. */
  private Room reduceHere(Object send, int offset, int count, Layout layout, Reduction reduction) {
    Room room = Room.of(layout, leads() ? count : 0);
    Reductions.reduce(
        local, send, offset, room.buffer, room.offset, count, layout, reduction, leader);
    return room;
  }

  /** Combines elements of all of a group to a rank of the other. */
  public void reduce(
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int count,
      Layout layout,
      Reduction reduction,
      int root) {
    remote.begin(Call.REDUCE);
    if (root == ROOT) {
      remote.recv(recv, recvOffset, count, layout, remoteLeader);
    } else if (root >= 0) {
      Room room = reduceHere(send, sendOffset, count, layout, reduction);
      if (leads()) {
        remote.send(room.buffer, room.offset, count, layout, root);
      }
    }
  }

  /** Combines elements of all of each group to all of the other. */
  public void allreduce(
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int count,
      Layout layout,
      Reduction reduction) {
    remote.begin(Call.ALLREDUCE);
    Room room = reduceHere(send, sendOffset, count, layout, reduction);
    if (leads()) {
      remote.exchange(
          room.buffer,
          room.offset,
          count,
          layout,
          remoteLeader,
          recv,
          recvOffset,
          count,
          layout,
          remoteLeader);
    }
    Bcasts.bcast(local, recv, recvOffset, count, layout, leader);
  }

  /** Combines elements of all of each group, and deals the result out to the other. */
  public void reduceScatter(
      Object send,
      int sendOffset,
      Object recv,
      int recvOffset,
      int[] counts,
      Layout layout,
      Reduction reduction) {
    remote.begin(Call.REDUCE_SCATTER);
    int total = 0;
    int[] places = new int[counts.length];
    for (int i = 0; i < counts.length; i++) {
      places[i] = total;
      total += counts[i];
    }
    Room room = reduceHere(send, sendOffset, total, layout, reduction);
    Room theirs = Room.of(layout, leads() ? total : 0);
    if (leads()) {
      remote.exchange(
          room.buffer,
          room.offset,
          total,
          layout,
          remoteLeader,
          theirs.buffer,
          theirs.offset,
          total,
          layout,
          remoteLeader);
    }
    Scatters.scatterv(
        local,
        theirs.buffer,
        theirs.offset,
        counts,
        places,
        layout,
        recv,
        recvOffset,
        counts[local.rank()],
        layout,
        leader);
  }
}
