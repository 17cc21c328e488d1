// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Barriers;
import io.talaria.mpj.collective.Team;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Matched;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.FailureControl;
import io.talaria.mpj.engine.Transfer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/** A group of ranks and a context of their own for messages. */
public class Comm implements Freeable {
  private final World world;
  private final Group group;
  private final int id;
  private final int rank;
  private final Team team;
  private final Map<Integer, Object> attributes = new ConcurrentHashMap<>();

  /** Made once: a call allocates nothing but its status. */
  private final Function<Operation, Status> outcome = this::outcome;

  private volatile boolean freed;

  /** Whether it was revoked before it was freed; windows on it are revoked by that, too. */
  private volatile boolean revoked;

  /** Ranks that have failed, in the order of learning; guarded by this. */
  private final List<Integer> failed = new ArrayList<>();

  /** How many of these are acknowledged. */
  private int acknowledged;

  private Background background;

  /** Those of windows on this one: a rank that waits there may wait for one that has left. */
  private final Set<Comm> windows = ConcurrentHashMap.newKeySet();

  /** Of a window's, the communicator that it was made on. */
  private Comm windowOf;

  Comm(World world, Group group, int id) {
    this.world = world;
    this.group = group;
    this.id = id;
    this.rank = group.placeOf(world.engine().rank());
    this.team =
        new Team(
            world.engine(), rank, group.worldRanks(), 2 * id + 1, world.settings().algorithms());
  }

  /** A null communicator. */
  Comm() {
    world = null;
    group = null;
    id = -1;
    rank = MPI.UNDEFINED;
    team = null;
  }

  final World world() {
    alive();
    return world;
  }

  /** What all communicators share, also if this one was revoked. */
  final World worldIfRevoked(String call) {
    aliveOrRevoked();
    FailureControl ignored = world.failures(call);
    return world;
  }

  final Engine engine() {
    return world().engine();
  }

  /** The engine, also for requests of a communicator that was freed meanwhile. */
  final Engine engineOfRequests() {
    return world.engine();
  }

  /** The engine, also for a message that a probe took before the communicator was freed. */
  final Engine engineOfTaken() {
    return freed && !world.isClosed() ? world.engine() : engine();
  }

  final int context() {
    return 2 * id;
  }

  final int id() {
    return id;
  }

  final Team team() {
    alive();
    return team;
  }

  /** Runs operations in the background; made when it is first needed. */
  final synchronized Background background() {
    alive();
    if (background == null) {
      Team beside =
          new Team(
              world.engine(),
              rank,
              group.worldRanks(),
              Device.BESIDE + 2 * id + 1,
              world.settings().algorithms());
      background = new Background(world.engine(), beside);
    }
    return background;
  }

  private void alive() {
    aliveOrRevoked();
    if (revoked()) {
      throw new MPIException(MPIException.ERR_REVOKED, revokedText());
    }
  }

  /** As {@link #alive}, for what is allowed on a communicator that was revoked. */
  private void aliveOrRevoked() {
    if (world == null) {
      throw new MPIException(MPIException.ERR_COMM, "the communicator is COMM_NULL");
    }
    if (freed) {
      throw new MPIException(MPIException.ERR_COMM, "the communicator was freed");
    }
    if (world.isClosed() && !revoked()) {
      throw new MPIException(MPIException.ERR_OTHER, "MPI was finalized");
    }
  }

  /** At once for a communicator and the windows on it. */
  private boolean revoked() {
    return revoked || (windowOf != null && windowOf.revoked);
  }

  private String revokedText() {
    return windowOf != null
        ? "the window was revoked: make another one, on a communicator of the ranks that are left"
        : "communicator " + id + " was revoked: Shrink makes one of the ranks that are left";
  }

  /** Gives this communicator to a window on another one, with which it is revoked. */
  final void ofWindowOn(Comm other) {
    windowOf = other;
    other.windows.add(this);
    if (other.revoked()) {
      revokedHere();
    }
  }

  /** The ranks that messages go to: an inter-communicator has others. */
  Group peers() {
    return group;
  }

  // Calls of the layers below, whose exceptions become MPI's here.

  /**
   * Does a collective.
   *
   * @param team whose it is
   * @param collective its arguments are checked
   */
  static <T> void run(T team, Consumer<T> collective) {
    try {
      collective.accept(team);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  /** Starts to send elements of any type. */
  final Transfer startSend(
      Object buffer, int offset, int count, Layout layout, int to, int tag, boolean synchronous) {
    try {
      return Transfer.send(
          engine(), buffer, offset, count, layout, to, tag, context(), synchronous);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  /** Waits for elements of any type. */
  static Transfer await(Transfer transfer) {
    try {
      return transfer.await();
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  /** Looks for a message, or waits for one. */
  private boolean probe(boolean wait, int source, int tag, Operation found) {
    try {
      if (wait) {
        world.engine().probe(source(source, tag), tag, context(), found);
        return true;
      }
      return world.engine().iprobe(source(source, tag), tag, context(), found);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  /** The same, and takes the message. */
  private Message takeMessage(boolean wait, int source, int tag) {
    Operation found = new Operation();
    int from = source(source, tag);
    Engine engine = world.engine();
    try {
      Matched matched =
          wait
              ? engine.mprobe(from, tag, context(), found)
              : engine.improbe(from, tag, context(), found);
      return matched == null ? null : new Message(this, matched, found);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  // Identity.

  /** Number of ranks. */
  public int Size() throws MPIException {
    aliveOrRevoked();
    return group.Size();
  }

  /** Number of this rank. */
  public int Rank() throws MPIException {
    aliveOrRevoked();
    return rank;
  }

  /** Its ranks. */
  public Group Group() throws MPIException {
    aliveOrRevoked();
    return group;
  }

  /**
   * Compares.
   *
   * @param comm1 one
   * @param comm2 another
   * @return {@link MPI#IDENT}, {@link MPI#CONGRUENT}, {@link MPI#SIMILAR} or {@link MPI#UNEQUAL}
   */
  public static int Compare(Comm comm1, Comm comm2) throws MPIException {
    Buffers.given(comm1, "comm1");
    Buffers.given(comm2, "comm2");
    if (comm1 == comm2) {
      return MPI.IDENT;
    }
    if (comm1.Test_inter() != comm2.Test_inter()) {
      return MPI.UNEQUAL;
    }
    int groups = mpi.Group.Compare(comm1.Group(), comm2.Group());
    if (comm1.Test_inter() && groups != MPI.UNEQUAL) {
      groups = Math.max(groups, mpi.Group.Compare(comm1.peers(), comm2.peers()));
    }
    return groups == MPI.IDENT ? MPI.CONGRUENT : groups;
  }

  /**
   * Gives it back; collective. Collectives that were started are over then; messages under way and
   * receives that are posted can still be waited for, and what a matched probe took be received.
   */
  public void Free() throws MPIException {
    aliveOrRevoked();
    if (id <= 1) {
      throw new MPIException(MPIException.ERR_COMM, "COMM_WORLD and COMM_SELF cannot be freed");
    }
    if (!revoked()) {
      finishBackground();
      run(team, Barriers::barrier);
    }
    synchronized (this) {
      freed = true; // Not to be taken for revoked by the thread that is told so meanwhile.
    }
    if (windowOf != null) {
      windowOf.windows.remove(this);
    }
    world.release(id);
  }

  private void finishBackground() {
    Background started;
    synchronized (this) {
      started = background;
    }
    if (started != null) {
      started.finish();
    }
  }

  @Override
  public void free() throws MPIException {
    Free();
  }

  /** Whether it joins two groups. */
  public boolean Test_inter() throws MPIException {
    return false;
  }

  /** Whether it is no communicator. */
  public boolean Is_null() {
    return world == null || freed;
  }

  /** Another one with the same ranks; collective. */
  @Override
  public Object clone() throws MPIException {
    throw new MPIException(MPIException.ERR_COMM, "this communicator cannot be duplicated");
  }

  /** Which topology it has, or {@link MPI#UNDEFINED}. */
  public int Topo_test() throws MPIException {
    return MPI.UNDEFINED;
  }

  /**
   * Ends the job.
   *
   * @param errorcode exit status
   */
  public void Abort(int errorcode) throws MPIException {
    aliveOrRevoked();
    world.abort(errorcode);
  }

  // Ranks that end while others continue: mpirun -on-failure notify.

  /** This side's ranks, whatever the state of the communicator. */
  final Group members() {
    return group;
  }

  /** The ranks that take part in its collectives. */
  Group everybody() {
    return group;
  }

  final synchronized void markRevoked() {
    if (!freed) {
      revoked = true;
    }
  }

  /** What has to be done at this rank when some rank has revoked it. */
  void revokedHere() {
    // First of all: whoever gets an exception of this or of a window sees the others revoked, too.
    markRevoked();
    for (int context : new int[] {2 * id, Device.BESIDE + 2 * id}) {
      world.engine().revoke(context, revokedText());
      world.engine().revoke(context + 1, revokedText());
    }
    for (Comm window : windows) {
      window.revokedHere();
    }
  }

  /**
   * Ends all use of the communicator at all of its ranks, also what is under way there, so that
   * ranks that wait for others than those that have failed do not wait for good; also of windows
   * made on it. What communicates throws an exception of class {@link MPIException#ERR_REVOKED}
   * from then on, but for {@link #Agree} and Shrink; {@link #Free} is local then. Not collective.
   */
  public void Revoke() throws MPIException {
    aliveOrRevoked();
    FailureControl control = world.failures("Revoke");
    if (!revoked) {
      int[] all = everybody().worldRanks();
      revokedHere();
      control.revoke(id, all);
    }
  }

  /** Whether a rank has revoked it, as far as this rank has learned. */
  public boolean Is_revoked() throws MPIException {
    aliveOrRevoked();
    return revoked();
  }

  /**
   * The ranks of it that have failed, as far as this rank has learned; those that were learned of
   * later come behind.
   */
  public synchronized Group Get_failed() throws MPIException {
    aliveOrRevoked();
    for (int rank : everybody().worldRanks()) {
      if (world.engine().isGone(rank) && !failed.contains(rank)) {
        failed.add(rank);
      }
    }
    int[] ranks = failed.stream().mapToInt(Integer::intValue).toArray();
    return new Group(ranks, world.engine().rank());
  }

  /**
   * Acknowledges failures: receives from any rank wait for the others again.
   *
   * @param count how many, of {@link #Get_failed} from the first on
   * @return how many are acknowledged now
   */
  public synchronized int Ack_failed(int count) throws MPIException {
    aliveOrRevoked();
    Group lost = Get_failed();
    int known = Math.min(Math.max(count, acknowledged), lost.Size());
    int[] first = new int[known];
    Arrays.setAll(first, i -> i);
    Group left = mpi.Group.Difference(peers(), lost.Incl(first));
    world.engine().members(2 * id, left.worldRanks());
    acknowledged = known;
    return known;
  }

  /** Brings the ranks that are left to one result; whatever the state of the communicator. */
  final FailureControl.Agreement agreement(String call, long[] values) {
    aliveOrRevoked();
    CompletableFuture<FailureControl.Agreement> result;
    synchronized (this) {
      result = world.failures(call).agree(id, everybody().worldRanks(), values);
    }
    Engine engine = world.engine();
    CompletableFuture<Void> told = result.thenRun(engine::changed);
    engine.await(result::isDone);
    told.join();
    return result.join();
  }

  /**
   * Agrees on a number; collective over the ranks that are left, also where others have failed or
   * the communicator was revoked.
   *
   * @param flag this rank's
   * @return the bitwise «and» of those of all ranks that have called it, the same at all of them;
   *     on an inter-communicator of those of the other group, and -1 if none of that has called it
   */
  public int Agree(int flag) throws MPIException {
    return (int) agreement("Agree", new long[] {flag}).values()[0];
  }

  /** The value of a key, or null. */
  public Object Attr_get(int keyval) throws MPIException {
    aliveOrRevoked();
    if (keyval == MPI.TAG_UB) {
      return Integer.MAX_VALUE;
    }
    if (keyval == MPI.HOST) {
      return MPI.PROC_NULL;
    }
    if (keyval == MPI.IO) {
      return MPI.ANY_SOURCE;
    }
    return attributes.get(keyval);
  }

  /** Sets the value of a key. */
  public void Attr_put(int keyval, Object value) throws MPIException {
    aliveOrRevoked();
    attributes.put(keyval, Buffers.given(value, "value"));
  }

  /** Forgets a key. */
  public void Attr_delete(int keyval) throws MPIException {
    aliveOrRevoked();
    attributes.remove(keyval);
  }

  /** Remembered only: errors always throw. */
  public void Errhandler_set(Errhandler errhandler) throws MPIException {
    MPI.Errorhandler_set(errhandler);
  }

  /** What was set. */
  public Errhandler Errhandler_get() throws MPIException {
    return MPI.Errorhandler_get();
  }

  // Checks.

  static Layout committed(Datatype type) {
    if (type == null) {
      throw new MPIException(MPIException.ERR_TYPE, "datatype is null");
    }
    return type.committed();
  }

  private int destination(int dest, int tag) {
    if (tag < 0) {
      throw new MPIException(
          MPIException.ERR_TAG, "tag " + tag + ": 0 to " + Integer.MAX_VALUE + " is allowed");
    }
    return worldOf("destination", dest);
  }

  private int source(int source, int tag) {
    if (tag < 0 && tag != MPI.ANY_TAG) {
      throw new MPIException(
          MPIException.ERR_TAG,
          "tag " + tag + ": ANY_TAG, or 0 to " + Integer.MAX_VALUE + " is allowed");
    }
    return source == MPI.ANY_SOURCE ? Device.ANY_SOURCE : worldOf("source", source);
  }

  private int worldOf(String what, int peer) {
    if (peer < 0 || peer >= peers().Size()) {
      throw new MPIException(
          MPIException.ERR_RANK,
          what
              + " "
              + peer
              + ": a rank from 0 to "
              + (peers().Size() - 1)
              + (what.equals("source") ? ", ANY_SOURCE" : "")
              + " or PROC_NULL is allowed");
    }
    return peers().world(peer);
  }

  static Status ofNobody() {
    return new Status(MPI.PROC_NULL, MPI.ANY_TAG, 0, BaseType.BYTE.code(), 0, false);
  }

  final Status status(Transfer over) {
    Operation op = over.operation();
    return status(op, over.objects(), over.cancelled());
  }

  /** The status of an operation on elements side by side that is over; throws if it failed. */
  private Status outcome(Operation op) {
    if (op.error != Operation.OK) {
      check(op);
    }
    return status(op, -1, op.error == Operation.CANCELLED);
  }

  private static void check(Operation op) {
    try {
      Transfer.check(op);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  /** For operations of {@link Engine#isend} and {@link Engine#irecv}. */
  final Function<Operation, Status> outcome() {
    return outcome;
  }

  final Status status(Operation op, int objects, boolean cancelled) {
    int from = op.receive || op.payload == null ? peers().placeOf(op.fromSource) : rank;
    return new Status(from, op.fromTag, op.bytes, op.fromType, objects, cancelled);
  }

  // Sending.

  /** Whether the elements lie side by side and travel as they are. */
  private static boolean plain(Layout layout) {
    return layout.dense() && layout.base() != BaseType.OBJECT;
  }

  private void send(
      Object buf, int offset, int count, Datatype type, int dest, int tag, boolean synchronous) {
    alive();
    Object buffer = Buffers.normal(buf, type);
    Layout layout = committed(type);
    Buffers.check(buffer, offset, count, layout, type);
    if (dest == MPI.PROC_NULL) {
      return;
    }
    int to = destination(dest, tag);
    if (!plain(layout)) {
      await(startSend(buffer, offset, count, layout, to, tag, synchronous));
      return;
    }
    BaseType base = layout.base();
    long elements = (long) count * layout.size();
    try {
      world.engine().send(buffer, base, offset, elements, to, tag, context(), synchronous);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  private Request isend(
      Object buf, int offset, int count, Datatype type, int dest, int tag, boolean synchronous) {
    alive();
    Object buffer = Buffers.normal(buf, type);
    Layout layout = committed(type);
    Buffers.check(buffer, offset, count, layout, type);
    int to = destinationOrNobody(dest, tag);
    return isendChecked(buffer, offset, count, layout, to, tag, synchronous);
  }

  /** The world rank to send to, or {@link MPI#PROC_NULL}. */
  private int destinationOrNobody(int dest, int tag) {
    return dest == MPI.PROC_NULL ? MPI.PROC_NULL : destination(dest, tag);
  }

  /**
   * Starts to send what was checked.
   *
   * @param to as {@link #destinationOrNobody} returns it
   */
  private Request isendChecked(
      Object buffer, int offset, int count, Layout layout, int to, int tag, boolean synchronous) {
    if (to == MPI.PROC_NULL) {
      return new Request(ofNobody());
    }
    if (!plain(layout)) {
      return new Request(this, startSend(buffer, offset, count, layout, to, tag, synchronous));
    }
    BaseType base = layout.base();
    long elements = (long) count * layout.size();
    Operation op =
        world.engine().isend(buffer, base, offset, elements, to, tag, context(), synchronous);
    return op != null
        ? new Request(this, op)
        : new Request(new Status(rank, tag, elements << base.shift(), base.code(), -1, false));
  }

  private Prequest sendInit(
      Object buf, int offset, int count, Datatype type, int dest, int tag, boolean synchronous) {
    return sendInit(
        buf,
        offset,
        count,
        type,
        dest,
        tag,
        (buffer, layout, to) -> startSend(buffer, offset, count, layout, to, tag, synchronous));
  }

  /** Starts a persistent send, whose arguments were checked; returns null if it is over at once. */
  @FunctionalInterface
  private interface SendStarter {
    Transfer start(Object buffer, Layout layout, int to);
  }

  private Prequest sendInit(
      Object buf, int offset, int count, Datatype type, int dest, int tag, SendStarter starter) {
    alive();
    Object buffer = Buffers.normal(buf, type);
    Layout layout = committed(type);
    Buffers.check(buffer, offset, count, layout, type);
    if (dest == MPI.PROC_NULL) {
      return new Prequest(this, () -> null);
    }
    int to = destination(dest, tag);
    return new Prequest(this, () -> starter.start(buffer, layout, to));
  }

  /** Sends; returns when the buffer may be changed. */
  public void Send(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    send(buf, offset, count, datatype, dest, tag, false);
  }

  /** Sends; returns when the message is being received. */
  public void Ssend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    send(buf, offset, count, datatype, dest, tag, true);
  }

  /** Sends a message whose receive is posted; the same as {@link #Send}. */
  public void Rsend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    send(buf, offset, count, datatype, dest, tag, false);
  }

  /** Sends out of the buffer that {@link MPI#Buffer_attach} gave; returns at once. */
  public void Bsend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    alive();
    Object buffer = Buffers.normal(buf, datatype);
    Layout layout = committed(datatype);
    Buffers.check(buffer, offset, count, layout, datatype);
    if (dest != MPI.PROC_NULL) {
      int to = destination(dest, tag);
      world.buffered().send(this, buffer, offset, count, layout, to, tag);
    }
  }

  /** Starts to send. */
  public Request Isend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    return isend(buf, offset, count, datatype, dest, tag, false);
  }

  /** Starts to send; over when the message is being received. */
  public Request Issend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    return isend(buf, offset, count, datatype, dest, tag, true);
  }

  /** Starts to send; the same as {@link #Isend}. */
  public Request Irsend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    return isend(buf, offset, count, datatype, dest, tag, false);
  }

  /** Sends out of the attached buffer; over at once. */
  public Request Ibsend(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    Bsend(buf, offset, count, datatype, dest, tag);
    return new Request(new Status(rank, tag, 0, BaseType.BYTE.code(), 0, false));
  }

  /** A send to be started later. */
  public Prequest Send_init(Object buf, int offset, int count, Datatype datatype, int dest, int tag)
      throws MPIException {
    return sendInit(buf, offset, count, datatype, dest, tag, false);
  }

  /** A synchronous send to be started later. */
  public Prequest Ssend_init(
      Object buf, int offset, int count, Datatype datatype, int dest, int tag) throws MPIException {
    return sendInit(buf, offset, count, datatype, dest, tag, true);
  }

  /** A ready send to be started later. */
  public Prequest Rsend_init(
      Object buf, int offset, int count, Datatype datatype, int dest, int tag) throws MPIException {
    return sendInit(buf, offset, count, datatype, dest, tag, false);
  }

  /** A buffered send to be started later. */
  public Prequest Bsend_init(
      Object buf, int offset, int count, Datatype datatype, int dest, int tag) throws MPIException {
    return sendInit(
        buf,
        offset,
        count,
        datatype,
        dest,
        tag,
        (buffer, layout, to) -> {
          world().buffered().send(this, buffer, offset, count, layout, to, tag);
          return null;
        });
  }

  // Receiving.

  /** Receives. */
  public Status Recv(Object buf, int offset, int count, Datatype datatype, int source, int tag)
      throws MPIException {
    alive();
    Object buffer = Buffers.normal(buf, datatype);
    Layout layout = committed(datatype);
    Buffers.checkReceive(buffer, offset, count, layout, datatype);
    if (source == MPI.PROC_NULL) {
      return ofNobody();
    }
    int from = source(source, tag);
    if (!plain(layout)) {
      return status(
          await(
              Transfer.receive(
                  world.engine(), buffer, offset, count, layout, from, tag, context())));
    }
    return world
        .engine()
        .receive(
            buffer,
            layout.base(),
            offset,
            (long) count * layout.size(),
            from,
            tag,
            context(),
            outcome);
  }

  /** Starts to receive. */
  public Request Irecv(Object buf, int offset, int count, Datatype datatype, int source, int tag)
      throws MPIException {
    alive();
    Object buffer = Buffers.normal(buf, datatype);
    Layout layout = committed(datatype);
    Buffers.checkReceive(buffer, offset, count, layout, datatype);
    if (source == MPI.PROC_NULL) {
      return new Request(ofNobody());
    }
    int from = source(source, tag);
    if (!plain(layout)) {
      return new Request(
          this,
          Transfer.receive(world.engine(), buffer, offset, count, layout, from, tag, context()));
    }
    return new Request(
        this,
        world
            .engine()
            .irecv(
                buffer, layout.base(), offset, (long) count * layout.size(), from, tag, context()));
  }

  /** A receive to be started later. */
  public Prequest Recv_init(
      Object buf, int offset, int count, Datatype datatype, int source, int tag)
      throws MPIException {
    alive();
    Object buffer = Buffers.normal(buf, datatype);
    Layout layout = committed(datatype);
    Buffers.checkReceive(buffer, offset, count, layout, datatype);
    if (source == MPI.PROC_NULL) {
      return new Prequest(this, () -> null);
    }
    int from = source(source, tag);
    return new Prequest(
        this,
        () -> Transfer.receive(engine(), buffer, offset, count, layout, from, tag, context()));
  }

  /** Sends and receives at the same time. */
  public Status Sendrecv(
      Object sendbuf,
      int sendoffset,
      int sendcount,
      Datatype sendtype,
      int dest,
      int sendtag,
      Object recvbuf,
      int recvoffset,
      int recvcount,
      Datatype recvtype,
      int source,
      int recvtag)
      throws MPIException {
    alive();
    // Before the receive is started: it may take a message at once.
    Object sent = Buffers.normal(sendbuf, sendtype);
    Layout sendLayout = committed(sendtype);
    Buffers.check(sent, sendoffset, sendcount, sendLayout, sendtype);
    int to = destinationOrNobody(dest, sendtag);
    Request receive = Irecv(recvbuf, recvoffset, recvcount, recvtype, source, recvtag);
    Request send;
    try {
      send = isendChecked(sent, sendoffset, sendcount, sendLayout, to, sendtag, false);
    } catch (MPIException e) {
      receive.Cancel();
      throw e;
    }
    Status status = receive.Wait();
    send.Wait();
    return status;
  }

  /** Sends, and receives into the same buffer. */
  public Status Sendrecv_replace(
      Object buf,
      int offset,
      int count,
      Datatype datatype,
      int dest,
      int sendtag,
      int source,
      int recvtag)
      throws MPIException {
    alive();
    Object buffer = Buffers.normal(buf, datatype);
    Layout layout = committed(datatype);
    Buffers.checkReceive(buffer, offset, count, layout, datatype);
    int elements = Buffers.toInt((long) count * layout.size(), "elements to replace:");
    Object copy = layout.base().newArray(elements);
    Elements.pack(buffer, offset, count, layout, copy, 0);
    return Sendrecv(
        copy,
        0,
        elements,
        MPI.ofBase(layout.base()),
        dest,
        sendtag,
        buffer,
        offset,
        count,
        datatype,
        source,
        recvtag);
  }

  // Probing.

  /** Waits for a message, and leaves it to be received. */
  public Status Probe(int source, int tag) throws MPIException {
    alive();
    if (source == MPI.PROC_NULL) {
      return ofNobody();
    }
    Operation found = new Operation();
    probe(true, source, tag, found);
    return status(found, -1, false);
  }

  /** Looks for a message: its status, or null. */
  public Status Iprobe(int source, int tag) throws MPIException {
    alive();
    if (source == MPI.PROC_NULL) {
      return ofNobody();
    }
    Operation found = new Operation();
    return probe(false, source, tag, found) ? status(found, -1, false) : null;
  }

  /** Waits for a message and takes it, so that no other receive can have it. */
  public Message Mprobe(int source, int tag) throws MPIException {
    alive();
    return source == MPI.PROC_NULL ? new Message(this) : takeMessage(true, source, tag);
  }

  /** Looks for a message and takes it, or returns null. */
  public Message Improbe(int source, int tag) throws MPIException {
    alive();
    return source == MPI.PROC_NULL ? new Message(this) : takeMessage(false, source, tag);
  }

  // Packing.

  /** Bytes that elements take when packed, at most. */
  public int Pack_size(int incount, Datatype datatype) throws MPIException {
    Layout layout = committed(datatype);
    if (layout.base() == BaseType.OBJECT) {
      throw new MPIException(MPIException.ERR_TYPE, "objects cannot be packed");
    }
    if (incount < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + incount + ": 0 or more is allowed");
    }
    return datatype.bytes(incount);
  }

  /**
   * Packs elements into bytes.
   *
   * @return the position behind them
   */
  public int Pack(
      Object inbuf, int offset, int incount, Datatype datatype, byte[] outbuf, int position)
      throws MPIException {
    Buffers.given(outbuf, "outbuf");
    int bytes = Pack_size(incount, datatype);
    Object buffer = Buffers.normal(inbuf, datatype);
    Layout layout = committed(datatype);
    Buffers.check(buffer, offset, incount, layout, datatype);
    Buffers.check(outbuf, position, bytes, MPI.BYTE.layout(), MPI.BYTE);
    Object dense = layout.base().newArray(incount * layout.size());
    Elements.pack(buffer, offset, incount, layout, dense, 0);
    Elements.copy(
        layout.base(),
        dense,
        0,
        MemorySegment.ofArray(outbuf).asSlice(bytes == 0 ? 0 : position),
        0,
        incount * layout.size());
    return position + bytes;
  }

  /**
   * Unpacks elements from bytes.
   *
   * @return the position behind them
   */
  public int Unpack(
      byte[] inbuf, int position, Object outbuf, int offset, int outcount, Datatype datatype)
      throws MPIException {
    Buffers.given(inbuf, "inbuf");
    int bytes = Pack_size(outcount, datatype);
    Object buffer = Buffers.normal(outbuf, datatype);
    Layout layout = committed(datatype);
    Buffers.checkReceive(buffer, offset, outcount, layout, datatype);
    Buffers.check(inbuf, position, bytes, MPI.BYTE.layout(), MPI.BYTE);
    Object dense = layout.base().newArray(outcount * layout.size());
    Elements.copy(
        layout.base(),
        MemorySegment.ofArray(inbuf).asSlice(bytes == 0 ? 0 : position),
        0,
        dense,
        0,
        outcount * layout.size());
    Elements.unpack(dense, 0, buffer, offset, outcount, layout);
    return position + bytes;
  }

  /**
   * Joins this rank's group with another by two leaders, who are members of this communicator.
   *
   * @param local_comm this side's group
   * @param local_leader rank in it
   * @param remote_leader rank of the other side's leader in this communicator
   * @param tag for the leaders
   */
  public Intercomm Create_intercomm(Comm local_comm, int local_leader, int remote_leader, int tag)
      throws MPIException {
    if (!(Buffers.given(local_comm, "local_comm") instanceof Intracomm local)) {
      throw new MPIException(MPIException.ERR_COMM, "local_comm is no communicator of one group");
    }
    return Intercomm.create(this, local, local_leader, remote_leader, tag);
  }
}
