// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A program that a seed makes up: messages of all sizes from each rank to each, itself too, in two
 * communicators, by receives of any kind, probes, tests and cancels in any order. A rank that
 * receives what is by chance; at the end each rank has all that was sent to it, and {@link
 * Receives} says whether MPI's rules allow who got it.
 */
final class RandomProgram {
  private static final int HEADER = 5;
  private static final int MAX_LENGTH = 20_000;
  private static final int MAX_MESSAGES = 12;

  private final long seed;
  private final Intracomm[] comms;
  private final int rank;
  private final int size;
  private final int tags;

  /** How many messages there are: by communicator, sender and receiver. */
  private final int[][][] counts;

  private final int[][] left;
  private final int[][] numbers;
  private int toSend;
  private int toPost;
  private int toCome;
  private final Random random;
  private final List<Request> sends = new ArrayList<>();
  private final List<Posted> posted = new ArrayList<>();
  private final Receives[] judges = {new Receives(), new Receives()};

  /** A receive under way. */
  private static final class Posted {
    private final int comm;
    private final Receives.Receive judged;
    private final int[] data;
    private final Request request;

    Posted(int comm, Receives.Receive judged, int[] data, Request request) {
      this.comm = comm;
      this.judged = judged;
      this.data = data;
      this.request = request;
    }
  }

  /**
   * Makes the program of a rank.
   *
   * @param seed the same at all ranks
   * @param comms two of the same ranks, without other messages
   */
  RandomProgram(long seed, Intracomm... comms) {
    this.seed = seed;
    this.comms = comms.clone();
    rank = comms[0].Rank();
    size = comms[0].Size();
    Random shared = new Random(seed);
    tags = 1 + shared.nextInt(3);
    counts = new int[comms.length][size][size];
    int most = 1 + shared.nextInt(MAX_MESSAGES);
    for (int[][] comm : counts) {
      for (int from = 0; from < size; from++) {
        for (int to = 0; to < size; to++) {
          comm[from][to] = shared.nextInt(most + 1);
        }
      }
    }
    random = new Random(seed * 31 + rank);
    left = new int[comms.length][];
    numbers = new int[comms.length][size];
    for (int c = 0; c < comms.length; c++) {
      left[c] = counts[c][rank].clone();
      for (int other = 0; other < size; other++) {
        toSend += counts[c][rank][other];
        toCome += counts[c][other][rank];
      }
    }
    // Some messages are left to probes, some receives may be left without one.
    toPost = toCome == 0 ? 1 : random.nextInt(toCome + 2);
  }

  /** Runs it, and judges what came of it. */
  void run() {
    while (toSend > 0 || toPost > 0) {
      step();
    }
    while (toCome > 0) {
      testAll();
      int comm = random.nextInt(comms.length);
      probeAndReceive(comm, MPI.ANY_SOURCE, MPI.ANY_TAG);
    }
    Request.Waitall(sends.toArray(Request[]::new));
    for (Posted one : posted) {
      one.request.Cancel();
      assertThat(one.request.Wait().Test_cancelled()).as("seed %s", seed).isTrue();
    }
    for (int c = 0; c < comms.length; c++) {
      int[] sent = new int[size];
      for (int from = 0; from < size; from++) {
        sent[from] = counts[c][from][rank];
      }
      assertThat(judges[c].objection(sent)).as("seed %s, rank %s", seed, rank).isNull();
      // No wildcard of this program may take a message of the next one.
      comms[c].Barrier();
    }
  }

  private void step() {
    int comm = random.nextInt(comms.length);
    switch (random.nextInt(10)) {
      case 0, 1, 2, 3 -> send(comm);
      case 4, 5, 6 -> post(comm);
      case 7 -> matchedProbe(comm, source(), tag());
      case 8 -> probeAndReceive(comm, source(), tag());
      default -> {
        if (random.nextInt(8) == 0) {
          cancel();
        } else {
          testAll();
        }
      }
    }
  }

  private int source() {
    return random.nextInt(2) == 0 ? MPI.ANY_SOURCE : random.nextInt(size);
  }

  private int tag() {
    return random.nextInt(2) == 0 ? MPI.ANY_TAG : random.nextInt(tags);
  }

  private void send(int comm) {
    int to = random.nextInt(size);
    if (left[comm][to] == 0) {
      return;
    }
    left[comm][to]--;
    toSend--;
    int tag = random.nextInt(tags);
    int length = HEADER + (random.nextInt(4) == 0 ? random.nextInt(MAX_LENGTH - HEADER) : 0);
    int[] data = new int[length];
    fill(data, rank, numbers[comm][to]++, tag, comm);
    boolean synchronous = random.nextInt(4) == 0;
    sends.add(
        synchronous
            ? comms[comm].Issend(data, 0, length, MPI.INT, to, tag)
            : comms[comm].Isend(data, 0, length, MPI.INT, to, tag));
  }

  private static void fill(int[] data, int from, int number, int tag, int comm) {
    data[0] = from;
    data[1] = number;
    data[2] = tag;
    data[3] = comm;
    data[4] = data.length;
    for (int i = HEADER; i < data.length; i++) {
      data[i] = from + number + i;
    }
  }

  private void post(int comm) {
    if (toPost == 0) {
      return;
    }
    toPost--;
    int source = source();
    int tag = tag();
    int[] data = new int[MAX_LENGTH];
    Receives.Receive judged = judges[comm].post(source, tag);
    Request request = comms[comm].Irecv(data, 0, MAX_LENGTH, MPI.INT, source, tag);
    posted.add(new Posted(comm, judged, data, request));
  }

  private void matchedProbe(int comm, int source, int tag) {
    Message message = comms[comm].Improbe(source, tag);
    if (message != null) {
      Receives.Receive judged = judges[comm].post(source, tag);
      int[] data = new int[MAX_LENGTH];
      check(comm, judged, data, message.Recv(data, 0, MAX_LENGTH, MPI.INT));
    }
  }

  /** What a probe has found is what a receive of the same kind takes. */
  private void probeAndReceive(int comm, int source, int tag) {
    Status found = comms[comm].Iprobe(source, tag);
    if (found != null) {
      Receives.Receive judged = judges[comm].post(source, tag);
      int[] data = new int[MAX_LENGTH];
      Status status = comms[comm].Recv(data, 0, MAX_LENGTH, MPI.INT, source, tag);
      check(comm, judged, data, status);
      assertThat(status.source).as("seed %s", seed).isEqualTo(found.source);
      assertThat(status.tag).as("seed %s", seed).isEqualTo(found.tag);
      assertThat(status.Get_count(MPI.INT)).isEqualTo(found.Get_count(MPI.INT));
    }
  }

  private void testAll() {
    for (int i = posted.size() - 1; i >= 0; i--) {
      Posted one = posted.get(i);
      Status status = one.request.Test();
      if (status != null) {
        posted.remove(i);
        check(one.comm, one.judged, one.data, status);
      }
    }
  }

  private void cancel() {
    if (posted.isEmpty()) {
      return;
    }
    Posted one = posted.remove(random.nextInt(posted.size()));
    one.request.Cancel();
    Status status = one.request.Wait();
    if (status.Test_cancelled()) {
      judges[one.comm].forget(one.judged);
    } else {
      check(one.comm, one.judged, one.data, status);
    }
  }

  private void check(int comm, Receives.Receive judged, int[] data, Status status) {
    int length = status.Get_count(MPI.INT);
    String where = "seed " + seed + ", rank " + rank + ", from " + status.source;
    assertThat(length).as(where).isEqualTo(data[4]);
    assertThat(status.source).as(where).isEqualTo(data[0]);
    assertThat(status.tag).as(where).isEqualTo(data[2]);
    int[] wanted = new int[length];
    fill(wanted, status.source, data[1], status.tag, comm);
    assertThat(Arrays.equals(data, 0, length, wanted, 0, length)).as(where).isTrue();
    judged.took(new Receives.Sent(data[0], data[1]), data[2]);
    toCome--;
  }
}
