// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Transfer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The ranks that take part in collective operations, and messages between them, in a context of
 * their own. One collective at a time, as MPI demands of a communicator.
 *
 * <p>Each message carries the number and the kind of the call it belongs to. Messages of one source
 * are received in order whatever they carry, and compared then: where messages of two different
 * calls meet, an exception names both.
 */
public final class Team {
  private static final Function<Operation, Void> SENT = Team::sent;
  private static final Layout BYTES = Layout.basic(BaseType.BYTE, 1);
  private static final int CALL_BYTES = 250;
  private static final int VERDICT_BYTES = 600;

  private final Engine engine;
  private final int rank;
  private final int[] world;
  private final int context;

  /** What is said after the number of a member. */
  private final String whose;

  private final Map<String, Choice.Forced> forced = new TreeMap<>();

  /** Made once: a call allocates nothing. */
  private final Function<Operation, Void> received = this::received;

  private final Accumulator accumulator = new Accumulator();

  private int calls;
  private int tag;

  /**
   * For a communicator.
   *
   * @param engine this rank's
   * @param rank of this process here
   * @param world number of each member in the job
   * @param context of the collectives
   * @param forced algorithms by collective
   */
  public Team(Engine engine, int rank, int[] world, int context, Map<String, String> forced) {
    this(engine, rank, world, context, forced, "");
  }

  private Team(
      Engine engine, int rank, int[] world, int context, Map<String, String> forced, String whose) {
    this.engine = engine;
    this.rank = rank;
    this.world = world;
    this.context = context;
    this.whose = whose;
    forced.forEach(this::force);
  }

  /**
   * The other group of an inter-communicator, which this rank is not in.
   *
   * @param engine this rank's
   * @param rank of this process in its own group
   * @param world number of each member of the other one in the job
   * @param context of the collectives
   * @param forced algorithms by collective
   */
  public static Team ofOthers(
      Engine engine, int rank, int[] world, int context, Map<String, String> forced) {
    return new Team(engine, rank, world, context, forced, " of the other group");
  }

  /** Number of this rank. */
  public int rank() {
    return rank;
  }

  /** Number of members. */
  public int size() {
    return world.length;
  }

  /** Whether members have to wait for cores that others use; all members know the same. */
  boolean sharesCores() {
    return engine.sharedCores();
  }

  /**
   * Forces an algorithm; all ranks must do the same.
   *
   * @param collective its name
   * @param algorithm its name, or null for the table's choice
   */
  public void force(String collective, String algorithm) {
    if (algorithm == null) {
      forced.remove(collective);
    } else {
      forced.put(collective, Choice.Forced.of(collective, algorithm));
    }
  }

  Choice.Forced forced(String collective) {
    return forced.get(collective);
  }

  /** For the reduction that has begun. */
  Accumulator accumulator() {
    return accumulator;
  }

  /** Begins a call: what the messages until the next one belong to. */
  void begin(Call call) {
    calls = calls + 1 & 0x3ffffff;
    tag = call.tag(calls);
  }

  /**
   * Receives whatever comes, as any negative tag does; this one says to who looks in which call.
   */
  private int anyTag() {
    return ~tag;
  }

  /**
   * Compares what all members call, before a collective; collective itself.
   *
   * @param call what this one calls, with all that must be equal
   * @throws CommunicationException at all of them if one calls something else
   */
  public void compare(String call) {
    if (size() == 1) {
      return;
    }
    begin(Call.OTHER);
    String verdict = rank == 0 ? compareAll(call) : ask(call);
    if (!verdict.isEmpty()) {
      throw new CommunicationException(Kind.DISAGREEMENT, verdict);
    }
  }

  private String compareAll(String call) {
    byte[] mine = padded(call, CALL_BYTES);
    byte[] theirs = new byte[CALL_BYTES];
    String verdict = "";
    for (int i = 1; i < size(); i++) {
      recv(theirs, 0, CALL_BYTES, BYTES, i);
      if (verdict.isEmpty() && !Arrays.equals(mine, theirs)) {
        verdict =
            "ranks disagree: rank 0 calls " + text(mine) + ", rank " + i + " calls " + text(theirs);
      }
    }
    byte[] answer = padded(verdict, VERDICT_BYTES);
    for (int i = 1; i < size(); i++) {
      send(answer, 0, VERDICT_BYTES, BYTES, i);
    }
    return verdict;
  }

  private String ask(String call) {
    send(padded(call, CALL_BYTES), 0, CALL_BYTES, BYTES, 0);
    byte[] verdict = new byte[VERDICT_BYTES];
    recv(verdict, 0, VERDICT_BYTES, BYTES, 0);
    return text(verdict);
  }

  private static byte[] padded(String text, int bytes) {
    return Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), bytes);
  }

  private static String text(byte[] padded) {
    return new String(padded, StandardCharsets.UTF_8).replace("\0", "");
  }

  Transfer isend(Object buffer, int offset, int count, Layout layout, int to) {
    return Transfer.send(engine, buffer, offset, count, layout, world[to], tag, context, false);
  }

  Transfer irecv(Object buffer, int offset, int count, Layout layout, int from) {
    return Transfer.receive(engine, buffer, offset, count, layout, world[from], anyTag(), context);
  }

  /** Whether the elements lie side by side and travel as they are. */
  private static boolean plain(Layout layout) {
    return layout.dense() && layout.base() != BaseType.OBJECT;
  }

  void send(Object buffer, int offset, int count, Layout layout, int to) {
    if (!plain(layout)) {
      isend(buffer, offset, count, layout, to).await();
      return;
    }
    long elements = (long) count * layout.size();
    long ignored =
        engine.send(buffer, layout.base(), offset, elements, world[to], tag, context, false);
  }

  void recv(Object buffer, int offset, int count, Layout layout, int from) {
    if (!plain(layout)) {
      finish(irecv(buffer, offset, count, layout, from), from);
      return;
    }
    long elements = (long) count * layout.size();
    engine.receive(
        buffer, layout.base(), offset, elements, world[from], anyTag(), context, received);
  }

  /** Waits for a receive, and checks that it met a message of the same call and length. */
  void finish(Transfer receive, int from) {
    Operation op = receive.operation();
    engine.await(op);
    checkCall(op, from);
    receive.finish();
    if (receive.objects() < 0) {
      checkLength(op, from);
    }
  }

  /** The same for a receive of elements side by side that is over. */
  private Void received(Operation op) {
    if (op.error != Operation.OK || op.fromTag != tag || op.bytes != op.payload.bytes()) {
      int from = memberOf(op.peer);
      checkCall(op, from);
      Transfer.check(op);
      checkLength(op, from);
    }
    return null;
  }

  private static Void sent(Operation op) {
    Transfer.check(op);
    return null;
  }

  private int memberOf(int worldRank) {
    int member = 0;
    while (world[member] != worldRank) {
      member++;
    }
    return member;
  }

  private void checkCall(Operation op, int from) {
    if (op.error != Operation.FAILED && op.fromTag != tag) {
      throw new CommunicationException(
          Kind.DISAGREEMENT,
          "ranks disagree: rank "
              + rank
              + " is in "
              + Call.describe(tag)
              + ", rank "
              + from
              + whose
              + " in "
              + Call.describe(op.fromTag));
    }
  }

  private void checkLength(Operation op, int from) {
    if (op.bytes != op.payload.bytes()) {
      throw new CommunicationException(
          Kind.COUNT,
          "ranks disagree in "
              + Call.describe(tag)
              + ": rank "
              + rank
              + " expects "
              + op.payload.bytes()
              + " bytes, rank "
              + from
              + whose
              + " sent "
              + op.bytes);
    }
  }

  /** Sends to one and receives from another at the same time. */
  void exchange(
      Object out,
      int outOffset,
      int outCount,
      Layout outLayout,
      int to,
      Object in,
      int inOffset,
      int inCount,
      Layout inLayout,
      int from) {
    if (plain(inLayout) && plain(outLayout)) {
      exchangePlain(out, outOffset, outCount, outLayout, to, in, inOffset, inCount, inLayout, from);
      return;
    }
    Transfer receive = irecv(in, inOffset, inCount, inLayout, from);
    Transfer send = isend(out, outOffset, outCount, outLayout, to);
    finish(receive, from);
    send.await();
  }

  private void exchangePlain(
      Object out,
      int outOffset,
      int outCount,
      Layout outLayout,
      int to,
      Object in,
      int inOffset,
      int inCount,
      Layout inLayout,
      int from) {
    long expected = (long) inCount * inLayout.size();
    Operation receive =
        engine.irecv(in, inLayout.base(), inOffset, expected, world[from], anyTag(), context);
    long elements = (long) outCount * outLayout.size();
    Operation send =
        engine.isend(out, outLayout.base(), outOffset, elements, world[to], tag, context, false);
    engine.finish(receive, received);
    if (send != null) {
      engine.finish(send, SENT);
    }
  }
}
