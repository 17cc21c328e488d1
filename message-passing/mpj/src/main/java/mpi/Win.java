// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.collective.Barriers;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.onesided.DynamicMemory;
import io.talaria.mpj.onesided.Part;
import io.talaria.mpj.onesided.TargetPart;
import io.talaria.mpj.onesided.Window;
import io.talaria.mpj.onesided.WindowMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Memory of each rank of a communicator that the others read and write, without receives there.
 *
 * <p>Displacements count elements of the type that the target has given at creation. Elements of an
 * access have the base type of the target's window; a window of BYTE takes any. The buffer of the
 * origin may be changed when Put and Accumulate return; what Get and the fetching operations bring
 * is there once the epoch ends or a Flush returns.
 *
 * <p>Several threads may access a window at once; one at a time synchronizes.
 */
public class Win implements Freeable {
  private static final int MODES =
      MPI.MODE_NOCHECK
          | MPI.MODE_NOSTORE
          | MPI.MODE_NOPUT
          | MPI.MODE_NOPRECEDE
          | MPI.MODE_NOSUCCEED;

  private static final int ALIGNMENT = 64;

  /** A thread that is never started: whether it could access memory says if others can. */
  private static final Thread ANOTHER = Thread.ofPlatform().unstarted(() -> {});

  /**
   * The window of a rank.
   *
   * @param bytes how long it is
   * @param unit bytes of a displacement of 1
   * @param base type of its elements
   */
  private record Region(long bytes, int unit, BaseType base) {}

  private final Intracomm comm;
  private final Region[] regions;

  /** Memory of the ranks that share it, of Allocate_shared only; else null. */
  private final MemorySegment[] segments;

  /** This rank's memory, of Allocate and Allocate_shared; else null. */
  private final MemorySegment segment;

  /** Closes mappings, or null. */
  private final Arena arena;

  private final WindowMemory ofThisRank;
  private final Window window;
  private final int[] everybody;

  // Epochs. Written by the thread that synchronizes, read by those that access.
  private boolean fenced;
  private volatile boolean accessedInFence;
  private boolean allLocked;

  /** By rank; 0 if it is not locked. */
  private final int[] locks;

  /** What Start was given, or null. */
  private int[] started;

  private boolean[] mayAccess;

  /** What Post was given, or null. */
  private int[] posted;

  private boolean freed;

  private Win(
      Intracomm comm,
      Region[] regions,
      WindowMemory[] memory,
      MemorySegment segment,
      MemorySegment[] segments,
      Arena arena) {
    this.comm = comm;
    this.regions = regions;
    this.segment = segment;
    this.segments = segments;
    this.arena = arena;
    locks = new int[regions.length];
    everybody = new int[regions.length];
    Arrays.setAll(everybody, i -> i);
    ofThisRank = memory[comm.Rank()];
    World world = comm.world();
    window =
        new Window(
            world.windows(),
            world.engine(),
            comm.context(),
            comm.Group().worldRanks(),
            comm.Rank(),
            memory);
  }

  // Creation and end.

  /** The communicator of a window on another one. */
  private static Intracomm own(Intracomm comm) {
    Intracomm own = comm.Dup();
    own.ofWindowOn(comm);
    return own;
  }

  private static Layout unit(Datatype type, long count) {
    Layout layout = Comm.committed(type);
    if (!layout.dense() || layout.size() == 0 || layout.base() == BaseType.OBJECT) {
      throw new MPIException(
          MPIException.ERR_TYPE,
          "datatype "
              + type
              + ": a window has elements side by side of a primitive type, such as INT or INT2");
    }
    if (count < 0) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + ": 0 or more is allowed");
    }
    return layout;
  }

  private static Region region(Layout layout, long count) {
    BaseType base = layout.base() == BaseType.PACKED ? BaseType.BYTE : layout.base();
    int unit = layout.size() * base.bytes();
    if (count > Long.MAX_VALUE / 2 / unit) {
      throw new MPIException(MPIException.ERR_COUNT, "count " + count + " is too large");
    }
    return new Region(count * unit, unit, base);
  }

  /** What all ranks say of their windows. */
  private static Region[] exchange(Intracomm comm, Region mine) {
    int n = comm.Size();
    long[] all = new long[3 * n];
    long[] own = {mine.bytes, mine.unit, mine.base.code()};
    comm.Allgather(own, 0, 3, MPI.LONG, all, 0, 3, MPI.LONG);
    Region[] regions = new Region[n];
    for (int i = 0; i < n; i++) {
      regions[i] = new Region(all[3 * i], (int) all[3 * i + 1], BaseType.of((int) all[3 * i + 2]));
    }
    return regions;
  }

  /**
   * A window on memory of the program; collective. Other ranks reach it by messages, which this
   * rank serves while it is in a call of MPI, and every millisecond while it is not.
   *
   * @param base an array, a MemorySegment or a direct ByteBuffer, which must stay valid; null if
   *     count is 0
   * @param offset first element of the window in it
   * @param count elements of the type
   * @param type of the elements; displacements count it
   * @param comm the ranks, each with a window of its own size
   */
  public static Win Create(Object base, int offset, int count, Datatype type, Intracomm comm)
      throws MPIException {
    Buffers.given(comm, "comm");
    Layout layout = unit(type, count);
    Region mine = region(layout, count);
    Object memory = ofProgram(Buffers.normal(base, type), offset, count, layout, type);
    long start = count == 0 ? 0 : (long) offset << layout.base().shift();
    Intracomm own = own(comm);
    Region[] regions = exchange(own, mine);
    WindowMemory[] all = new WindowMemory[regions.length];
    all[own.Rank()] = WindowMemory.own(memory, start);
    return new Win(own, regions, all, null, null, null);
  }

  /** The segment with the elements; an array of boolean, which has none, stays. */
  private static Object ofProgram(
      Object buffer, int offset, int count, Layout layout, Datatype type) {
    if (count == 0) {
      return MemorySegment.ofArray(new byte[0]);
    }
    Buffers.check(buffer, offset, count, layout, type);
    if (buffer instanceof MemorySegment m && (m.isReadOnly() || !m.isAccessibleBy(ANOTHER))) {
      throw new MPIException(
          MPIException.ERR_BUFFER,
          m.isReadOnly()
              ? "the window's memory is read-only"
              : "the window's memory is of a confined arena: any thread may serve an access");
    }
    return switch (buffer) {
      case byte[] a -> MemorySegment.ofArray(a);
      case char[] a -> MemorySegment.ofArray(a);
      case short[] a -> MemorySegment.ofArray(a);
      case int[] a -> MemorySegment.ofArray(a);
      case long[] a -> MemorySegment.ofArray(a);
      case float[] a -> MemorySegment.ofArray(a);
      case double[] a -> MemorySegment.ofArray(a);
      default -> buffer;
    };
  }

  /**
   * A window without memory; collective. Each rank attaches and detaches memory of the program
   * while the window is open. Displacements count bytes, and elements of an access may be of any
   * type but BOOLEAN. Other ranks reach the memory by messages, as that of {@link #Create}.
   *
   * @param comm the ranks
   */
  public static Win Create_dynamic(Intracomm comm) throws MPIException {
    Buffers.given(comm, "comm");
    Intracomm own = own(comm);
    Region[] regions = new Region[own.Size()];
    Arrays.fill(regions, new Region(Long.MAX_VALUE / 2, 1, BaseType.BYTE));
    WindowMemory[] all = new WindowMemory[regions.length];
    all[own.Rank()] = new DynamicMemory();
    return new Win(own, regions, all, null, null, null);
  }

  private DynamicMemory dynamic(String call) {
    alive();
    if (!(ofThisRank instanceof DynamicMemory dynamic)) {
      throw new MPIException(
          MPIException.ERR_RMA_ATTACH, call + ": the window was not made by Create_dynamic");
    }
    return dynamic;
  }

  /**
   * Lets the other ranks access memory of the program, from now on; of Create_dynamic only.
   *
   * @param base an array, a MemorySegment or a direct ByteBuffer, which must stay valid
   * @param offset first element in it
   * @param count elements of the type
   * @param type of the elements; BOOLEAN has no bytes that could be attached
   * @return the displacement of the first element, which other ranks have to be told
   */
  public long Attach(Object base, int offset, int count, Datatype type) throws MPIException {
    DynamicMemory dynamic = dynamic("Attach");
    Layout layout = unit(type, count);
    if (layout.base() == BaseType.BOOLEAN) {
      throw new MPIException(
          MPIException.ERR_TYPE, "datatype " + type + ": memory of booleans cannot be attached");
    }
    Object memory = ofProgram(Buffers.normal(base, type), offset, count, layout, type);
    long start = count == 0 ? 0 : (long) offset << layout.base().shift();
    return dynamic.attach((MemorySegment) memory, start, region(layout, count).bytes);
  }

  /**
   * Ends what {@link #Attach} has begun; no rank may access the memory any more.
   *
   * @param displacement what Attach returned
   */
  public void Detach(long displacement) throws MPIException {
    if (!dynamic("Detach").detach(displacement)) {
      throw new MPIException(
          MPIException.ERR_RMA_ATTACH,
          "Detach of displacement " + displacement + ", where no memory is attached");
    }
  }

  /**
   * A window on memory that is made for it, filled with zeros; collective. Ranks of one host share
   * it where their device does (shmdev, smdev, auto): they access each other's without the target.
   *
   * @param count elements of this rank
   * @param type of the elements; displacements count it
   * @param comm the ranks
   */
  public static Win Allocate(long count, Datatype type, Intracomm comm) throws MPIException {
    return allocate(count, type, comm, false);
  }

  /**
   * The same, with the memory of all ranks side by side, and accessible to each as a segment; an
   * error where a rank does not share memory with all others.
   *
   * @param count elements of this rank
   * @param type of the elements; displacements count it
   * @param comm the ranks
   */
  public static Win Allocate_shared(long count, Datatype type, Intracomm comm) throws MPIException {
    return allocate(count, type, comm, true);
  }

  /** Memory of the ranks of a host, one behind the other. */
  private static final class HostMemory {
    /** Stands for a sum that is no long. */
    private static final long TOO_MANY_BYTES = Long.MAX_VALUE;

    private final int[] members;
    private final long[] starts;
    private final long bytes;

    HostMemory(Intracomm comm, Region[] regions, int alignment) {
      Device device = comm.engine().device();
      Group group = comm.Group();
      int[] found = new int[regions.length];
      int n = 0;
      for (int i = 0; i < regions.length; i++) {
        if (device.sharesMemoryWith(group.world(i))) {
          found[n++] = i;
        }
      }
      members = Arrays.copyOf(found, n);
      starts = new long[n];
      long at = (long) n * WindowMemory.lockBytes();
      for (int i = 0; i < n; i++) {
        starts[i] = at;
        // Once it has overflowed, it stays negative.
        at = at < 0 ? at : (at + regions[members[i]].bytes + alignment - 1) & -alignment;
      }
      long aligned = (at + ALIGNMENT - 1) & -ALIGNMENT;
      bytes = aligned < 0 ? TOO_MANY_BYTES : aligned;
    }

    MemorySegment map(Intracomm comm, Arena arena) {
      Device device = comm.engine().device();
      int rank = comm.Rank();
      int leader = members[0];
      String name = "window-" + comm.context() + "-" + comm.Group().world(leader);
      MemorySegment mapping = null;
      IOException failure = null;
      try {
        if (bytes == TOO_MANY_BYTES) {
          throw new IOException("the windows of its ranks are too large together");
        }
        if (members.length == 1) {
          mapping = arena.allocate(bytes, ALIGNMENT);
        } else if (rank == leader) {
          mapping = device.createShared(name, bytes, arena);
        }
      } catch (IOException e) {
        failure = e;
      } catch (OutOfMemoryError e) {
        failure = new IOException(e);
      }
      try {
        // All learn here that the leaders are done.
        agree(comm, failure, bytes);
        try {
          if (mapping == null) {
            mapping = device.openShared(name, arena);
          }
        } catch (IOException e) {
          failure = e;
        }
        agree(comm, failure, bytes);
      } finally {
        if (members.length > 1 && rank == leader) {
          device.removeShared(name);
        }
      }
      return mapping;
    }

    /** Throws at all ranks if one has failed. */
    private static void agree(Intracomm comm, IOException failure, long bytes) {
      int[] failed = new int[comm.Size()];
      int[] own = {failure == null ? 0 : 1};
      comm.Allgather(own, 0, 1, MPI.INT, failed, 0, 1, MPI.INT);
      for (int i = 0; i < failed.length; i++) {
        if (failed[i] != 0) {
          String why = i == comm.Rank() ? ", " + bytes + " bytes: " + failure : "";
          throw new MPIException(
              MPIException.ERR_RMA_SHARED,
              "rank " + i + " cannot make or map the memory of its host" + why,
              failure);
        }
      }
    }
  }

  private static Win allocate(long count, Datatype type, Intracomm comm, boolean sideBySide) {
    Buffers.given(comm, "comm");
    Region mine = region(unit(type, count), count);
    Intracomm own = own(comm);
    Region[] regions = exchange(own, mine);
    HostMemory host = new HostMemory(own, regions, sideBySide ? 1 : ALIGNMENT);
    int shares = host.members.length;
    int[] least = {shares};
    own.Allreduce(MPI.IN_PLACE, 0, least, 0, 1, MPI.INT, MPI.MIN);
    if (sideBySide && least[0] < own.Size()) {
      own.Free();
      throw new MPIException(
          MPIException.ERR_RMA_SHARED,
          "Allocate_shared: this rank shares memory with "
              + shares
              + " of the "
              + regions.length
              + " ranks of the communicator by "
              + comm.engine().device().name());
    }
    Arena arena = Arena.ofShared();
    try {
      return allocated(own, regions, host, sideBySide, arena);
    } catch (MPIException e) {
      arena.close();
      own.Free();
      throw e;
    }
  }

  private static Win allocated(
      Intracomm own, Region[] regions, HostMemory host, boolean sideBySide, Arena arena) {
    MemorySegment mapping = host.map(own, arena);
    int shares = host.members.length;
    WindowMemory[] memory = new WindowMemory[regions.length];
    MemorySegment[] segments = new MemorySegment[regions.length];
    for (int i = 0; i < shares; i++) {
      int member = host.members[i];
      long start = host.starts[i];
      segments[member] = mapping.asSlice(start, regions[member].bytes);
      memory[member] =
          shares == 1
              ? WindowMemory.own(mapping, start)
              : WindowMemory.shared(mapping, (long) i * WindowMemory.lockBytes(), start);
    }
    return new Win(own, regions, memory, segments[own.Rank()], sideBySide ? segments : null, arena);
  }

  private void alive() {
    notFreed();
    comm.world();
  }

  private void notFreed() {
    if (freed) {
      throw new MPIException(MPIException.ERR_WIN, "the window was freed");
    }
  }

  /**
   * Gives it back; collective, and outside of epochs; local if it was revoked. Memory made for it
   * is not accessible then.
   */
  public void Free() throws MPIException {
    if (!Is_revoked()) {
      noAccessEpoch("Free");
      if (posted != null) {
        throw sync("Free before the accesses of the last Post are waited for: call Wait first");
      }
      barrier();
    }
    freed = true;
    window.close();
    if (arena != null) {
      arena.close();
    }
    try {
      comm.Free();
    } catch (MPIException e) {
      if (!comm.Is_revoked()) {
        throw e;
      }
      comm.Free();
    }
  }

  // Ranks that end while others continue: mpirun -on-failure notify.

  /**
   * Ends all use of the window at all of its ranks, also what waits there: calls throw an exception
   * of class {@link MPIException#ERR_REVOKED} from then on, but for {@link #Is_revoked}, {@link
   * #Get_failed}, {@link #Group}, {@link #Segment}, {@link #Shared_query} and {@link #Free}, which
   * is local then. What accesses under way have done to the memory is not defined. Not collective.
   * {@link Comm#Revoke} of the communicator that the window was made on does the same.
   */
  public void Revoke() throws MPIException {
    notFreed();
    comm.Revoke();
  }

  /** Whether a rank has revoked it, as far as this rank has learned. */
  public boolean Is_revoked() throws MPIException {
    notFreed();
    return comm.Is_revoked();
  }

  /** The ranks of it that have failed, as far as this rank has learned. */
  public Group Get_failed() throws MPIException {
    notFreed();
    return comm.Get_failed();
  }

  @Override
  public void free() throws MPIException {
    Free();
  }

  /** Its ranks. */
  public Group Group() throws MPIException {
    notFreed();
    return comm.Group();
  }

  /** This rank's memory; of Allocate and Allocate_shared only. */
  public MemorySegment Segment() throws MPIException {
    notFreed();
    if (segment == null) {
      throw new MPIException(
          MPIException.ERR_WIN,
          "the window was made by Create or Create_dynamic: its memory is the program's");
    }
    return segment;
  }

  /**
   * The memory of a rank, of Allocate_shared only.
   *
   * @param rank a rank, or PROC_NULL for the lowest with a window of some length
   */
  public MemorySegment Shared_query(int rank) throws MPIException {
    notFreed();
    if (segments == null) {
      throw new MPIException(
          MPIException.ERR_RMA_SHARED, "the window was not made by Allocate_shared");
    }
    if (rank == MPI.PROC_NULL) {
      for (MemorySegment each : segments) {
        if (each.byteSize() > 0) {
          return each;
        }
      }
      return segments[0];
    }
    return segments[known(rank)];
  }

  // Checks.

  private static MPIException sync(String message) {
    return new MPIException(MPIException.ERR_RMA_SYNC, message);
  }

  private int known(int rank) {
    if (rank < 0 || rank >= regions.length) {
      throw new MPIException(
          MPIException.ERR_RANK,
          "target " + rank + ": a rank from 0 to " + (regions.length - 1) + " is allowed");
    }
    return rank;
  }

  private static void assertion(int assertion) {
    if ((assertion & ~MODES) != 0) {
      throw new MPIException(
          MPIException.ERR_ASSERT, "assertion " + assertion + ": a sum of MPI.MODE_... is allowed");
    }
  }

  private void mayAccess(String call, int target) {
    if (allLocked || locks[target] != 0) {
      return;
    }
    boolean[] group = mayAccess;
    if (group != null && group[target]) {
      return;
    }
    if (fenced) {
      if (!accessedInFence) {
        accessedInFence = true;
      }
      return;
    }
    throw sync(
        call
            + " to rank "
            + target
            + " outside of an epoch: call "
            + (started != null ? "Start with it in the group" : "Fence, Start, Lock or Lock_all")
            + " before");
  }

  private static Layout elements(String what, Datatype type) {
    Layout layout = Comm.committed(type);
    if (layout.base() == BaseType.OBJECT
        || layout.base() == BaseType.PACKED
        || layout.base() == BaseType.NULL) {
      throw new MPIException(
          MPIException.ERR_TYPE, what + " " + type + ": a window takes primitive types");
    }
    return layout;
  }

  private static Part origin(Object buf, int offset, int count, Datatype type) {
    Object buffer = Buffers.normal(buf, type);
    Layout layout = elements("origin datatype", type);
    Buffers.check(buffer, offset, count, layout, type);
    return new Part(buffer, offset, count, layout);
  }

  private static Part result(Object buf, int offset, int count, Datatype type) {
    Object buffer = Buffers.normal(buf, type);
    Layout layout = elements("result datatype", type);
    Buffers.checkReceive(buffer, offset, count, layout, type);
    return new Part(buffer, offset, count, layout);
  }

  /** Checks the target of an access, and that it has as many elements as the other side. */
  private TargetPart target(
      String call, int target, long disp, int count, Datatype type, boolean write, Part other) {
    known(target);
    mayAccess(call, target);
    Layout layout = elements("target datatype", type);
    Region region = regions[target];
    BaseType base = layout.base();
    if (region.base != base && (region.base != BaseType.BYTE || base == BaseType.BOOLEAN)) {
      throw new MPIException(
          MPIException.ERR_TYPE,
          "target datatype " + type + " in a window of " + region.base + " of rank " + target);
    }
    if (disp < 0 || disp > region.bytes / region.unit) {
      throw new MPIException(
          MPIException.ERR_DISP,
          "displacement "
              + disp
              + ": the window of rank "
              + target
              + " has "
              + region.bytes / region.unit
              + " elements");
    }
    if (count < 0) {
      throw new MPIException(
          MPIException.ERR_COUNT, "target count " + count + ": 0 or more is allowed");
    }
    TargetPart part = new TargetPart(target, disp * region.unit, count, layout);
    long elements = (long) count * layout.size();
    Buffers.toInt(elements, "elements of an access:");
    inRange(part, region);
    if (write && !layout.dense() && layout.overlaps()) {
      throw new MPIException(
          MPIException.ERR_TYPE,
          "target datatype " + type + " has elements that lie on each other");
    }
    if (other != null) {
      match(other, layout, elements);
    }
    return part;
  }

  private static void inRange(TargetPart part, Region region) {
    Layout layout = part.layout();
    if (part.count() == 0 || layout.size() == 0) {
      return;
    }
    int bytes = layout.base().bytes();
    long last = (part.count() - 1L) * layout.extent();
    long from = part.displacement() + (layout.first() + Math.min(0, last)) * bytes;
    long end = part.displacement() + (layout.end() + Math.max(0, last)) * bytes;
    if (from < 0 || end > region.bytes) {
      throw new MPIException(
          MPIException.ERR_RMA_RANGE,
          "bytes "
              + from
              + " to "
              + (end - 1)
              + " of the window of rank "
              + part.rank()
              + ", which has "
              + region.bytes);
    }
  }

  private static void match(Part other, Layout target, long elements) {
    if (other.layout().base() != target.base()) {
      throw new MPIException(
          MPIException.ERR_TYPE,
          "datatype of " + other.layout().base() + " for a target of " + target.base());
    }
    long given = (long) other.count() * other.layout().size();
    if (given != elements) {
      throw new MPIException(
          MPIException.ERR_COUNT, given + " elements for a target of " + elements);
    }
  }

  private static Arithmetic operation(Op op, Layout layout) {
    if (op == null) {
      throw new MPIException(MPIException.ERR_OP, "operation is null");
    }
    if (!(op.reduction() instanceof Arithmetic known)) {
      throw new MPIException(
          MPIException.ERR_OP, "operation " + op.name() + ": a window takes predefined ones only");
    }
    if (known != Arithmetic.REPLACE && known != Arithmetic.NO_OP && !known.definedFor(layout)) {
      throw new MPIException(
          MPIException.ERR_OP, known + " is not defined for " + layout.base() + " elements");
    }
    return known;
  }

  // Accesses.

  private interface Access {
    void run(Window window);
  }

  private void access(Access access) {
    try {
      access.run(window);
    } catch (CommunicationException e) {
      throw Failures.of(e);
    }
  }

  /** Writes elements into the window of a rank. */
  public void Put(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType)
      throws MPIException {
    alive();
    Part from = origin(origin, originOffset, originCount, originType);
    if (target != MPI.PROC_NULL) {
      TargetPart to = target("Put", target, targetDisp, targetCount, targetType, true, from);
      access(w -> w.put(from, to));
    }
  }

  /** Reads elements out of the window of a rank. */
  public void Get(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType)
      throws MPIException {
    alive();
    Part to = result(origin, originOffset, originCount, originType);
    if (target != MPI.PROC_NULL) {
      TargetPart from = target("Get", target, targetDisp, targetCount, targetType, false, to);
      access(w -> w.get(to, from));
    }
  }

  /**
   * Combines elements with those in the window of a rank; atomically for each element.
   *
   * @param op a predefined one, or REPLACE
   */
  public void Accumulate(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType,
      Op op)
      throws MPIException {
    alive();
    Part from = origin(origin, originOffset, originCount, originType);
    Layout layout = elements("target datatype", targetType);
    Arithmetic known = operation(op, layout);
    if (known == Arithmetic.NO_OP) {
      throw new MPIException(
          MPIException.ERR_OP, "NO_OP is for Get_accumulate and Fetch_and_op only");
    }
    if (target != MPI.PROC_NULL) {
      TargetPart to = target("Accumulate", target, targetDisp, targetCount, targetType, true, from);
      access(w -> w.accumulate(from, to, known));
    }
  }

  /**
   * Combines elements with those in the window of a rank, and fetches what was there before;
   * atomically for each element.
   *
   * @param origin not used with NO_OP
   * @param op a predefined one, REPLACE or NO_OP
   */
  public void Get_accumulate(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      Object result,
      int resultOffset,
      int resultCount,
      Datatype resultType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType,
      Op op)
      throws MPIException {
    alive();
    Part from = origin(origin, originOffset, originCount, originType, op, targetType);
    Part old = result(result, resultOffset, resultCount, resultType);
    Operation ignored =
        fetch("Get_accumulate", from, old, target, targetDisp, targetCount, targetType, op, false);
  }

  /** The origin of a fetching operation; null if the operation takes none. */
  private static Part origin(
      Object buffer, int offset, int count, Datatype type, Op op, Datatype targetType) {
    Arithmetic known = operation(op, elements("target datatype", targetType));
    return known == Arithmetic.NO_OP ? null : origin(buffer, offset, count, type);
  }

  /** Combines and fetches; gives an operation for it alone if that is asked for. */
  private Operation fetch(
      String call,
      Part from,
      Part old,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType,
      Op op,
      boolean request) {
    if (target == MPI.PROC_NULL) {
      return null;
    }
    TargetPart to = target(call, target, targetDisp, targetCount, targetType, true, old);
    Arithmetic known = operation(op, to.layout());
    if (from != null) {
      match(from, to.layout(), (long) targetCount * to.layout().size());
    }
    Operation[] over = new Operation[1];
    access(
        w -> {
          if (request) {
            over[0] = w.startFetch(from, old, to, known);
          } else {
            w.fetch(from, old, to, known);
          }
        });
    return over[0];
  }

  // The same as requests, for ranks that are locked.

  private void passive(String call, int target) {
    alive();
    if (target != MPI.PROC_NULL && !allLocked && locks[known(target)] == 0) {
      throw sync(
          call + " to rank " + target + ", which is not locked: call Lock or Lock_all before");
    }
  }

  private Request request(Operation over) {
    return over == null ? new Request(new Status()) : StartedRequests.Started.access(comm, over);
  }

  /** As Put, in an epoch of Lock; when the request is over, the buffer may be changed. */
  public Request Rput(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType)
      throws MPIException {
    passive("Rput", target);
    Put(origin, originOffset, originCount, originType, target, targetDisp, targetCount, targetType);
    return request(null);
  }

  /** As Get, in an epoch of Lock; when the request is over, the elements are there. */
  public Request Rget(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType)
      throws MPIException {
    passive("Rget", target);
    Part to = result(origin, originOffset, originCount, originType);
    Operation[] over = new Operation[1];
    if (target != MPI.PROC_NULL) {
      TargetPart from = target("Rget", target, targetDisp, targetCount, targetType, false, to);
      access(w -> over[0] = w.startGet(to, from));
    }
    return request(over[0]);
  }

  /** As Accumulate, in an epoch of Lock; when the request is over, the buffer may be changed. */
  public Request Raccumulate(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType,
      Op op)
      throws MPIException {
    passive("Raccumulate", target);
    Accumulate(
        origin,
        originOffset,
        originCount,
        originType,
        target,
        targetDisp,
        targetCount,
        targetType,
        op);
    return request(null);
  }

  /** As Get_accumulate, in an epoch of Lock; when the request is over, the result is there. */
  public Request Rget_accumulate(
      Object origin,
      int originOffset,
      int originCount,
      Datatype originType,
      Object result,
      int resultOffset,
      int resultCount,
      Datatype resultType,
      int target,
      long targetDisp,
      int targetCount,
      Datatype targetType,
      Op op)
      throws MPIException {
    passive("Rget_accumulate", target);
    return request(
        fetch(
            "Rget_accumulate",
            origin(origin, originOffset, originCount, originType, op, targetType),
            result(result, resultOffset, resultCount, resultType),
            target,
            targetDisp,
            targetCount,
            targetType,
            op,
            true));
  }

  /**
   * Combines one element with one in the window of a rank, and fetches what was there before;
   * atomically.
   *
   * @param origin not used with NO_OP
   * @param type of one element
   * @param op a predefined one, REPLACE or NO_OP
   */
  public void Fetch_and_op(
      Object origin,
      int originOffset,
      Object result,
      int resultOffset,
      Datatype type,
      int target,
      long targetDisp,
      Op op)
      throws MPIException {
    alive();
    Layout layout = single(type, "Fetch_and_op");
    Arithmetic known = operation(op, layout);
    Part from = known == Arithmetic.NO_OP ? null : origin(origin, originOffset, 1, type);
    Part old = result(result, resultOffset, 1, type);
    if (target != MPI.PROC_NULL) {
      TargetPart to = target("Fetch_and_op", target, targetDisp, 1, type, true, old);
      access(w -> w.fetch(from, old, to, known));
    }
  }

  private static Layout single(Datatype type, String call) {
    Layout layout = elements("datatype", type);
    if (!layout.dense() || layout.size() > 2) {
      throw new MPIException(
          MPIException.ERR_TYPE, call + " with datatype " + type + ": a predefined one is allowed");
    }
    return layout;
  }

  /**
   * Writes one element into the window of a rank if the expected one is there, and fetches what was
   * there before; atomically.
   *
   * @param compare has the expected element
   * @param type of the element: BYTE, CHAR, SHORT, BOOLEAN, INT or LONG
   */
  public void Compare_and_swap(
      Object origin,
      int originOffset,
      Object compare,
      int compareOffset,
      Object result,
      int resultOffset,
      Datatype type,
      int target,
      long targetDisp)
      throws MPIException {
    alive();
    Layout layout = single(type, "Compare_and_swap");
    if (layout.size() != 1 || layout.base() == BaseType.FLOAT || layout.base() == BaseType.DOUBLE) {
      throw new MPIException(
          MPIException.ERR_TYPE,
          "Compare_and_swap with datatype "
              + type
              + ": BYTE, CHAR, SHORT, BOOLEAN, INT or LONG is allowed");
    }
    Part next = origin(origin, originOffset, 1, type);
    Part expected = origin(compare, compareOffset, 1, type);
    Part old = result(result, resultOffset, 1, type);
    if (target != MPI.PROC_NULL) {
      TargetPart to = target("Compare_and_swap", target, targetDisp, 1, type, true, old);
      access(w -> w.compareAndSwap(next, expected, old, to));
    }
  }

  // Fences.

  private void noAccessEpoch(String call) {
    noLock(call);
    noFenceOrStart(call);
  }

  private void noLock(String call) {
    if (allLocked) {
      throw sync(call + " while all ranks are locked: call Unlock_all first");
    }
    for (int i = 0; i < locks.length; i++) {
      if (locks[i] != 0) {
        throw sync(call + " while rank " + i + " is locked: call Unlock first");
      }
    }
  }

  private void barrier() {
    VarHandle.fullFence();
    Comm.run(comm.team(), Barriers::barrier);
    VarHandle.fullFence();
  }

  /**
   * Ends the accesses of all ranks since the last Fence, and allows others; collective.
   *
   * @param assertion 0, or MODE_NOSTORE, MODE_NOPUT, MODE_NOPRECEDE, MODE_NOSUCCEED
   */
  public void Fence(int assertion) throws MPIException {
    alive();
    assertion(assertion);
    noLock("Fence");
    if (started != null || posted != null) {
      throw sync(
          started != null ? "Fence between Start and Complete" : "Fence between Post and Wait");
    }
    RuntimeException failure = null;
    try {
      access(w -> w.flush(i -> true));
    } catch (ProcessFailedException e) {
      throw e;
    } catch (MPIException e) {
      failure = e; // The others must not wait for this rank.
    }
    barrier();
    fenced = (assertion & MPI.MODE_NOSUCCEED) == 0;
    accessedInFence = false;
    if (failure != null) {
      throw failure;
    }
  }

  // Locks.

  /**
   * Locks the window of a rank, and waits until that is possible.
   *
   * @param lockType LOCK_SHARED or LOCK_EXCLUSIVE
   * @param rank which
   * @param assertion 0 or MODE_NOCHECK
   */
  public void Lock(int lockType, int rank, int assertion) throws MPIException {
    alive();
    if (lockType != MPI.LOCK_SHARED && lockType != MPI.LOCK_EXCLUSIVE) {
      throw new MPIException(
          MPIException.ERR_LOCKTYPE,
          "lock type " + lockType + ": LOCK_SHARED or LOCK_EXCLUSIVE is allowed");
    }
    assertion(assertion);
    if (rank == MPI.PROC_NULL) {
      return;
    }
    known(rank);
    if (allLocked || locks[rank] != 0) {
      throw sync("Lock of rank " + rank + ", which is locked");
    }
    noFenceOrStart("Lock");
    access(w -> w.lock(new int[] {rank}, lockType == MPI.LOCK_EXCLUSIVE));
    VarHandle.fullFence();
    locks[rank] = lockType;
    fenced = false;
  }

  private void noFenceOrStart(String call) {
    if (started != null) {
      throw sync(call + " between Start and Complete");
    }
    if (accessedInFence) {
      throw sync(call + " after accesses that no Fence has ended: call Fence first");
    }
  }

  /** Ends the accesses to a rank, and unlocks its window. */
  public void Unlock(int rank) throws MPIException {
    alive();
    if (rank == MPI.PROC_NULL) {
      return;
    }
    known(rank);
    if (locks[rank] == 0) {
      throw sync("Unlock of rank " + rank + ", which Lock has not locked");
    }
    boolean exclusive = locks[rank] == MPI.LOCK_EXCLUSIVE;
    locks[rank] = 0;
    VarHandle.fullFence();
    access(w -> w.unlock(new int[] {rank}, exclusive));
  }

  /**
   * Locks the windows of all ranks, shared.
   *
   * @param assertion 0 or MODE_NOCHECK
   */
  public void Lock_all(int assertion) throws MPIException {
    alive();
    assertion(assertion);
    noLock("Lock_all");
    noFenceOrStart("Lock_all");
    access(w -> w.lock(everybody, false));
    VarHandle.fullFence();
    allLocked = true;
    fenced = false;
  }

  /** Ends the accesses to all ranks, and unlocks their windows. */
  public void Unlock_all() throws MPIException {
    alive();
    if (!allLocked) {
      throw sync("Unlock_all without Lock_all");
    }
    allLocked = false;
    VarHandle.fullFence();
    access(w -> w.unlock(everybody, false));
  }

  private void locked(String call, int rank) {
    if (!allLocked && locks[rank] == 0) {
      throw sync(call + " of rank " + rank + ", which is not locked");
    }
  }

  private void anyLocked(String call) {
    boolean any = allLocked;
    for (int lock : locks) {
      any |= lock != 0;
    }
    if (!any) {
      throw sync(call + " without a lock: call Lock or Lock_all before");
    }
  }

  /** Waits until the accesses to a rank, which is locked, are done there. */
  public void Flush(int rank) throws MPIException {
    alive();
    if (rank != MPI.PROC_NULL) {
      locked("Flush", known(rank));
      access(w -> w.flush(rank));
    }
    VarHandle.fullFence();
  }

  /** Waits until the accesses to all ranks that are locked are done there. */
  public void Flush_all() throws MPIException {
    alive();
    anyLocked("Flush_all");
    access(w -> w.flush(i -> true));
    VarHandle.fullFence();
  }

  /** Waits until the buffers of accesses to a rank can be used; what was fetched is there. */
  public void Flush_local(int rank) throws MPIException {
    alive();
    if (rank != MPI.PROC_NULL) {
      locked("Flush_local", known(rank));
      access(w -> w.flush(rank));
    }
  }

  /** Waits until the buffers of accesses to all ranks can be used; what was fetched is there. */
  public void Flush_local_all() throws MPIException {
    alive();
    anyLocked("Flush_local_all");
    access(w -> w.flush(i -> true));
  }

  /** Makes stores to a window and those of other ranks visible to each other. */
  public void Sync() throws MPIException {
    alive();
    VarHandle.fullFence();
  }

  // Groups.

  private int[] members(String call, Group group) {
    Buffers.given(group, "group");
    int n = group.Size();
    int[] ranks = new int[n];
    for (int i = 0; i < n; i++) {
      ranks[i] = comm.Group().placeOf(group.world(i));
      if (ranks[i] < 0) {
        throw new MPIException(
            MPIException.ERR_GROUP,
            call + ": member " + i + " of the group is no rank of the window");
      }
    }
    return ranks;
  }

  /**
   * Lets the ranks of a group access the window of this one, until {@link #Wait}.
   *
   * @param group the origins
   * @param assertion 0, or MODE_NOCHECK, MODE_NOSTORE, MODE_NOPUT
   */
  public void Post(Group group, int assertion) throws MPIException {
    alive();
    assertion(assertion);
    int[] origins = members("Post", group);
    if (posted != null) {
      throw sync("Post between Post and Wait");
    }
    VarHandle.fullFence();
    access(w -> w.post(origins));
    posted = origins;
  }

  /**
   * Waits until the ranks of a group have called Post for this one, and allows accesses to them,
   * until {@link #Complete}.
   *
   * @param group the targets
   * @param assertion 0 or MODE_NOCHECK
   */
  public void Start(Group group, int assertion) throws MPIException {
    alive();
    assertion(assertion);
    int[] targets = members("Start", group);
    noAccessEpoch("Start");
    access(w -> w.awaitPosts(targets));
    VarHandle.fullFence();
    boolean[] allowed = new boolean[regions.length];
    for (int i : targets) {
      allowed[i] = true;
    }
    started = targets;
    mayAccess = allowed;
    fenced = false;
  }

  /** Ends the accesses since Start; they are done at the targets. */
  public void Complete() throws MPIException {
    alive();
    if (started == null) {
      throw sync("Complete without Start");
    }
    int[] targets = started;
    started = null;
    mayAccess = null;
    VarHandle.fullFence();
    access(w -> w.complete(targets));
  }

  /** Waits until the ranks that were given to Post have called Complete. */
  public void Wait() throws MPIException {
    alive();
    if (posted == null) {
      throw sync("Wait without Post");
    }
    int[] origins = posted;
    access(w -> w.awaitCompletions(origins));
    posted = null;
    VarHandle.fullFence();
  }

  /** Looks whether {@link #Wait} would return at once, and has its effect then. */
  public boolean Test() throws MPIException {
    alive();
    if (posted == null) {
      throw sync("Test without Post");
    }
    int[] origins = posted;
    boolean[] over = new boolean[1];
    access(w -> over[0] = w.testCompletions(origins));
    if (over[0]) {
      posted = null;
      VarHandle.fullFence();
    }
    return over[0];
  }
}
