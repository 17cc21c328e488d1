// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Jobs;
import io.talaria.mpj.engine.Settings;
import io.talaria.mpj.launch.PmiJob;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** Start, end, constants, and what belongs to no communicator. */
public class MPI {
  /** No value. */
  public static int UNDEFINED = -32766;

  /** Receives from any rank. */
  public static int ANY_SOURCE = -2;

  /** Receives any tag. */
  public static int ANY_TAG = -1;

  /** No process: messages to and from it complete at once. */
  public static int PROC_NULL = -3;

  /** Root of a collective of an inter-communicator: this rank. */
  public static int ROOT = -4;

  /** Bytes that a message of Bsend takes beside its own. */
  public static int BSEND_OVERHEAD = 64;

  /** See {@link #BSEND_OVERHEAD}. */
  public static int SEND_OVERHEAD = 64;

  /** See {@link #BSEND_OVERHEAD}. */
  public static int RECV_OVERHEAD = 64;

  /** Comparison: the same. */
  public static final int IDENT = 0;

  /** Comparison: the same ranks in the same order. */
  public static final int CONGRUENT = 3;

  /** Comparison: the same ranks in another order. */
  public static final int SIMILAR = 1;

  /** Comparison: other ranks. */
  public static final int UNEQUAL = 2;

  /** Topology: a graph. */
  public static int GRAPH = 1;

  /** Topology: a grid. */
  public static int CART = 2;

  /** Key of an attribute: the largest tag. */
  public static int TAG_UB = Integer.MAX_VALUE;

  /**
   * Processors that the JVM of this rank may use, as {@link Runtime#availableProcessors} gives them
   * when this class is loaded. Neither the ranks of the job nor the cores of the host: the launcher
   * divides those among the ranks of a host.
   */
  public static final int NUM_OF_PROCESSORS = Runtime.getRuntime().availableProcessors();

  /** Key of an attribute. */
  public static int HOST = Integer.MAX_VALUE - 1;

  /** Key of an attribute. */
  public static int IO = Integer.MAX_VALUE - 2;

  /** Level of threads. */
  public static int THREAD_SINGLE = 0;

  /** Level of threads. */
  public static int THREAD_FUNNELED = 1;

  /** Level of threads. */
  public static int THREAD_SERIALIZED = 2;

  /** Level of threads: what {@link #Init} gives. */
  public static int THREAD_MULTIPLE = 3;

  /** No datatype. */
  public static Datatype NULL = null;

  /** byte. */
  public static Datatype BYTE = Datatype.basic(BaseType.BYTE, 1, "BYTE");

  /** char. */
  public static Datatype CHAR = Datatype.basic(BaseType.CHAR, 1, "CHAR");

  /** short. */
  public static Datatype SHORT = Datatype.basic(BaseType.SHORT, 1, "SHORT");

  /** boolean. */
  public static Datatype BOOLEAN = Datatype.basic(BaseType.BOOLEAN, 1, "BOOLEAN");

  /** int. */
  public static Datatype INT = Datatype.basic(BaseType.INT, 1, "INT");

  /** long. */
  public static Datatype LONG = Datatype.basic(BaseType.LONG, 1, "LONG");

  /** float. */
  public static Datatype FLOAT = Datatype.basic(BaseType.FLOAT, 1, "FLOAT");

  /** double. */
  public static Datatype DOUBLE = Datatype.basic(BaseType.DOUBLE, 1, "DOUBLE");

  /** Bytes of {@link Comm#Pack}; match any type. */
  public static Datatype PACKED = Datatype.basic(BaseType.PACKED, 1, "PACKED");

  /** Lower bound of a Struct. */
  public static Datatype LB = Datatype.basic(BaseType.NULL, 0, "LB");

  /** Upper bound of a Struct. */
  public static Datatype UB = Datatype.basic(BaseType.NULL, 0, "UB");

  /** Serializable objects. */
  public static Datatype OBJECT = Datatype.basic(BaseType.OBJECT, 1, "OBJECT");

  /** Pairs. */
  public static Datatype SHORT2 = Datatype.basic(BaseType.SHORT, 2, "SHORT2");

  /** Pairs. */
  public static Datatype INT2 = Datatype.basic(BaseType.INT, 2, "INT2");

  /** Pairs. */
  public static Datatype LONG2 = Datatype.basic(BaseType.LONG, 2, "LONG2");

  /** Pairs. */
  public static Datatype FLOAT2 = Datatype.basic(BaseType.FLOAT, 2, "FLOAT2");

  /** Pairs. */
  public static Datatype DOUBLE2 = Datatype.basic(BaseType.DOUBLE, 2, "DOUBLE2");

  /** Largest. */
  public static Op MAX = new Op(Arithmetic.MAX);

  /** Smallest. */
  public static Op MIN = new Op(Arithmetic.MIN);

  /** Sum. */
  public static Op SUM = new Op(Arithmetic.SUM);

  /** Product. */
  public static Op PROD = new Op(Arithmetic.PROD);

  /** Logical and. */
  public static Op LAND = new Op(Arithmetic.LAND);

  /** Bitwise and. */
  public static Op BAND = new Op(Arithmetic.BAND);

  /** Logical or. */
  public static Op LOR = new Op(Arithmetic.LOR);

  /** Bitwise or. */
  public static Op BOR = new Op(Arithmetic.BOR);

  /** Logical exclusive or. */
  public static Op LXOR = new Op(Arithmetic.LXOR);

  /** Bitwise exclusive or. */
  public static Op BXOR = new Op(Arithmetic.BXOR);

  /** Largest of the first of each pair, with its second. */
  public static Op MAXLOC = new Op(Arithmetic.MAXLOC);

  /** Smallest of the first of each pair, with its second. */
  public static Op MINLOC = new Op(Arithmetic.MINLOC);

  /** For windows: the origin's elements replace the target's. */
  public static final Op REPLACE = new Op(Arithmetic.REPLACE);

  /** For windows: the target's elements stay, to be fetched only. */
  public static final Op NO_OP = new Op(Arithmetic.NO_OP);

  /** Lock of a window that one rank holds. */
  public static final int LOCK_EXCLUSIVE = 1;

  /** Lock of a window that several ranks may hold. */
  public static final int LOCK_SHARED = 2;

  /** Kind of split: ranks that share memory, so that Allocate_shared works. */
  public static final int COMM_TYPE_SHARED = 1;

  /** Assertion: no other lock, or the matching Post was called. Not used. */
  public static final int MODE_NOCHECK = 1;

  /** Assertion: no local stores since the last synchronization. Not used. */
  public static final int MODE_NOSTORE = 2;

  /** Assertion: no Put or Accumulate comes. Not used. */
  public static final int MODE_NOPUT = 4;

  /** Assertion: the Fence ends no accesses. Not used. */
  public static final int MODE_NOPRECEDE = 8;

  /** Assertion: no accesses follow the Fence. They are refused then. */
  public static final int MODE_NOSUCCEED = 16;

  /** In place of a send buffer whose data are in the receive buffer. */
  public static final Object IN_PLACE = new Object();

  /** A status of nothing. */
  public static Status EMPTY_STATUS = new Status();

  /** No ranks. */
  public static Group GROUP_EMPTY = new Group(new int[0], -1);

  /** No group. */
  public static Group GROUP_NULL = null;

  /** No communicator. */
  public static Comm COMM_NULL = new Comm();

  /** No request. */
  public static Request REQUEST_NULL = new Request((Status) null);

  /** Errors throw. */
  public static Errhandler ERRORS_ARE_FATAL = new Errhandler("ERRORS_ARE_FATAL");

  /** Errors throw. */
  public static Errhandler ERRORS_RETURN = new Errhandler("ERRORS_RETURN");

  /** All ranks of the job; after {@link #Init}. */
  public static Intracomm COMM_WORLD;

  /** This rank alone; after {@link #Init}. */
  public static Comm COMM_SELF;

  private static World world;
  private static Errhandler errhandler = ERRORS_RETURN;
  private static Thread mainThread;

  /** Not needed: all is static. */
  public MPI() {}

  static Datatype ofBase(BaseType base) {
    return switch (base) {
      case BYTE -> BYTE;
      case CHAR -> CHAR;
      case SHORT -> SHORT;
      case BOOLEAN -> BOOLEAN;
      case INT -> INT;
      case LONG -> LONG;
      case FLOAT -> FLOAT;
      case DOUBLE -> DOUBLE;
      case PACKED -> PACKED;
      case OBJECT -> OBJECT;
      case NULL -> throw new MPIException(MPIException.ERR_TYPE, "no base type");
    };
  }

  /**
   * Starts MPI, at {@link #THREAD_MULTIPLE}. Once in a program, before anything else.
   *
   * @param args of the program
   * @return those that are the program's own
   */
  public static synchronized String[] Init(String[] args) throws MPIException {
    if (world != null) {
      throw new MPIException(
          MPIException.ERR_OTHER,
          world.isClosed() ? "MPI was finalized" : "MPI is initialized already");
    }
    Job job = Jobs.find(MPI.class.getClassLoader(), PmiJob::find);
    World opened = new World(job.open(), job, Settings.of(System.getProperties()));
    world = opened;
    COMM_WORLD = opened.commWorld();
    COMM_SELF = opened.commSelf();
    mainThread = Thread.currentThread();
    return args;
  }

  /**
   * Starts MPI.
   *
   * @param required level of threads
   * @param provided ignored
   * @param args of the program
   */
  public static String[] initThread(int required, int provided, String[] args) {
    return Init(args);
  }

  /** The level of threads. */
  public static int queryThread() {
    return THREAD_MULTIPLE;
  }

  /** Whether this thread called Init. */
  public static boolean isMainThread() {
    return Thread.currentThread() == mainThread;
  }

  private static World running() {
    World running = world;
    if (running == null || running.isClosed()) {
      throw new MPIException(
          MPIException.ERR_OTHER,
          running == null
              ? "MPI is not initialized: call MPI.Init(args) first"
              : "MPI was finalized");
    }
    return running;
  }

  /** Ends MPI; waits for all ranks. */
  public static void Finalize() throws MPIException {
    running().close();
  }

  /** Whether {@link #Init} was called. */
  public static boolean Initialized() throws MPIException {
    return world != null;
  }

  /** Whether {@link #Finalize} was called. */
  public static boolean Finalized() throws MPIException {
    return world != null && world.isClosed();
  }

  /** Seconds since some moment. */
  public static double Wtime() throws MPIException {
    return System.nanoTime() * 1e-9;
  }

  /** What {@link #Wtime} is exact to, seconds. */
  public static double Wtick() throws MPIException {
    return 1e-9;
  }

  /** Name of this host. */
  public static String Get_processor_name() throws MPIException {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /**
   * Gives memory for Bsend.
   *
   * @param buffer its length counts
   */
  public static void Buffer_attach(byte[] buffer) throws MPIException {
    running().buffered().attach(buffer, Buffers.given(buffer, "buffer").length);
  }

  /**
   * Gives memory for Bsend.
   *
   * @param buffer its capacity counts
   */
  public static void Buffer_attach(ByteBuffer buffer) throws MPIException {
    running().buffered().attach(buffer, Buffers.given(buffer, "buffer").capacity());
  }

  /**
   * Waits for all of Bsend, and takes the memory back, also if a message has failed, for which this
   * throws.
   *
   * @return the array, or null if there was another kind of memory, or none
   */
  public static byte[] Buffer_detach() throws MPIException {
    return running().buffered().detach() instanceof byte[] array ? array : null;
  }

  /** Remembered only: errors always throw. */
  public static void Errorhandler_set(Errhandler handler) throws MPIException {
    errhandler = handler;
  }

  /** What was set. */
  public static Errhandler Errorhandler_get() throws MPIException {
    return errhandler;
  }
}
