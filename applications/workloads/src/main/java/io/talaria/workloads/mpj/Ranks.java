// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import com.sun.management.ThreadMXBean;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.mpj.kernels.CompilerRest;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import mpi.Datatype;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * What the ranks of {@code bench mpj} do, by the mpiJava API alone, so that the same class file
 * runs on other libraries of that API; {@code ranks.c} does the same in C. One thread a rank.
 *
 * <p>The words behind {@value #BEGIN} are the seconds to warm up and to measure each size, and then
 * for each size the pattern, the bytes, and how often in a block: a block is repeated until the
 * time is up, twice at least before anything counts. All sizes are warmed up before the first one
 * is measured, and again until the compilers of all ranks are at rest, {@value #WARM_UPS} times at
 * most: else it is the compilers that are measured. Rank 0 decides, and prints {@code result
 * PATTERN BYTES ITERATIONS NANOSECONDS FASTEST} for each size, where the last is the nanoseconds of
 * the fastest block; of {@code allocated} ITERATIONS and bytes, and of {@code overlap} the
 * nanoseconds that could be hidden and those that were. Behind these may come {@value #MEMORY} and
 * {@value #TRANSPORT}.
 */
public final class Ranks {
  /** The word before all that is for this program; some launchers put theirs before it. */
  static final String BEGIN = "cases";

  /** The program that does the same in C. */
  static final String IN_C = "ranks";

  /** The word at the end that asks whether connections were accelerated. */
  static final String TRANSPORT = "transport";

  /** The pattern whose result is bytes, not nanoseconds. */
  private static final String ALLOCATED = "allocated";

  /** The pattern that is measured in its own way. */
  private static final String OVERLAP = "overlap";

  /** The word at the end that asks each rank for its memory. */
  static final String MEMORY = "memory";

  /** How many messages are in flight. */
  static final int WINDOW = 64;

  private static final int WARM_BLOCKS = 2;
  private static final int WARM_UPS = 4;
  private static final int TAG = 1;
  private static final int ANSWER = 2;
  private static final long SETTLED_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int SETTLING_ITERATIONS = 100;

  private final Intracomm world;
  private final int rank;
  private final int size;

  private Ranks(Intracomm world) {
    this.world = world;
    rank = world.Rank();
    size = world.Size();
  }

  /** What is spent: nanoseconds, or bytes of heap. */
  private interface Meter {
    long read();
  }

  /** Something that all ranks do together, so many times. */
  private interface Block {
    void run(int count) throws IOException;
  }

  /**
   * Runs as a rank.
   *
   * @param args the cases, as said above
   * @throws IOException if a connection of its own fails
   */
  public static void main(String[] args) throws IOException {
    MPI.Init(args);
    List<String> words = Arrays.asList(args);
    words = words.subList(words.indexOf(BEGIN) + 1, words.size());
    Ranks ranks = new Ranks(MPI.COMM_WORLD);
    boolean transport = words.getLast().equals(TRANSPORT);
    if (transport) {
      ranks.settle();
    }
    double warmUp = Double.parseDouble(words.get(0));
    double seconds = Double.parseDouble(words.get(1));
    List<Case> cases = new ArrayList<>();
    for (int i = 2; i + 2 < words.size(); i += 3) {
      cases.add(
          ranks
          .new Case(
              words.get(i),
              Integer.parseInt(words.get(i + 1)),
              Integer.parseInt(words.get(i + 2))));
    }
    CompilerRest compilers = new CompilerRest();
    int warmUps = 0;
    do {
      for (Case one : cases) {
        one.warmUp(warmUp);
      }
    } while (ranks.any(!compilers.atRest()) && ++warmUps < WARM_UPS);
    for (Case one : cases) {
      one.measure(seconds);
    }
    if (words.contains(MEMORY)) {
      ranks.tellMemory();
    }
    if (transport && ranks.rank == 0) {
      System.out.println(Transport.line());
    }
    MPI.Finalize();
  }

  /** A pattern with a size. */
  private final class Case {
    private final String pattern;
    private final int bytes;
    private final int count;
    private final Meter meter;
    private final Overlap overlap;
    private final Block block;

    Case(String pattern, int bytes, int count) throws IOException {
      this.pattern = pattern;
      this.bytes = bytes;
      this.count = count;
      meter = pattern.equals(ALLOCATED) ? Allocation::bytes : System::nanoTime;
      overlap = pattern.equals(OVERLAP) ? new Overlap(world, bytes) : null;
      block = overlap == null ? block(pattern, bytes) : overlap::block;
    }

    void warmUp(double seconds) throws IOException {
      long begin = System.nanoTime();
      int blocks = 0;
      do {
        run(block, count, meter);
        blocks++;
      } while (all(blocks < WARM_BLOCKS || System.nanoTime() - begin < seconds * 1e9));
    }

    void measure(double seconds) throws IOException {
      warmUp(0);
      if (overlap != null) {
        overlap.clear();
      }
      long iterations = 0;
      long cost = 0;
      long fastest = Long.MAX_VALUE;
      long begin = System.nanoTime();
      do {
        long own = run(block, count, meter);
        fastest = Math.min(fastest, own);
        cost += own;
        iterations += count;
      } while (all(System.nanoTime() - begin < seconds * 1e9));
      if (rank == 0) {
        String found =
            switch (pattern) {
              case OVERLAP -> overlap.possibleNs() + " " + overlap.hiddenNs();
              case ALLOCATED -> iterations + " " + cost;
              default -> iterations + " " + cost + " " + fastest;
            };
        System.out.println("result " + pattern + " " + bytes + " " + found);
      }
    }
  }

  private long run(Block block, int count, Meter meter) throws IOException {
    world.Barrier();
    long before = meter.read();
    block.run(count);
    return meter.read() - before;
  }

  /** Returns what rank 0 says. */
  private boolean all(boolean wanted) {
    int[] flag = {wanted ? 1 : 0};
    world.Bcast(flag, 0, 1, MPI.INT, 0);
    return flag[0] != 0;
  }

  /** Returns whether any rank says so. */
  private boolean any(boolean said) {
    int[] own = {said ? 1 : 0};
    int[] all = new int[1];
    world.Allreduce(own, 0, all, 0, 1, MPI.INT, MPI.MAX);
    return all[0] != 0;
  }

  private Block block(String pattern, int bytes) throws IOException {
    byte[] array = new byte[bytes];
    return switch (pattern) {
      case "half", ALLOCATED -> count -> pingPong(array, bytes, MPI.BYTE, count);
      case "objects" -> {
        Object[] text = {"x".repeat(bytes)};
        yield count -> pingPong(text, 1, MPI.OBJECT, count);
      }
      case "sockets" -> {
        SocketChannel channel = connect();
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
        yield count -> pingPong(channel, buffer, count);
      }
      case "rate", "bytes" -> count -> windows(array, bytes, MPI.BYTE, count);
      case "doubles" -> {
        double[] doubles = new double[bytes / Double.BYTES];
        yield count -> windows(doubles, doubles.length, MPI.DOUBLE, count);
      }
      case "segments" -> {
        Object segment = Arena.global().allocate(bytes, Long.BYTES);
        yield count -> windows(segment, bytes, MPI.BYTE, count);
      }
      case "put" -> new OneSided(world, bytes)::put;
      case "get" -> new OneSided(world, bytes)::get;
      case "fetch" -> new OneSided(world, bytes)::fetchAndAdd;
      default -> collective(pattern, bytes, array);
    };
  }

  private Block collective(String pattern, int bytes, byte[] array) {
    return switch (pattern) {
      case "barrier" -> this::barriers;
      case "bcast" -> count -> broadcasts(array, count);
      case "allreduce" -> {
        double[] in = new double[bytes / Double.BYTES];
        double[] out = new double[bytes / Double.BYTES];
        yield count -> reductions(in, out, count);
      }
      case "allgather" -> {
        byte[] all = new byte[bytes * size];
        yield count -> gatherings(array, all, count);
      }
      case "alltoall" -> {
        byte[] out = new byte[bytes * size];
        byte[] in = new byte[bytes * size];
        yield count -> exchanges(out, in, bytes, count);
      }
      case "reduce-scatter" -> {
        int part = bytes / Double.BYTES;
        double[] in = new double[part * size];
        double[] out = new double[part];
        yield count -> scatteredReductions(in, out, count);
      }
      default -> throw new IllegalArgumentException("there is no pattern " + pattern);
    };
  }

  private void pingPong(Object buffer, int length, Datatype type, int count) {
    if (rank == 0) {
      for (int i = 0; i < count; i++) {
        world.Send(buffer, 0, length, type, 1, TAG);
        world.Recv(buffer, 0, length, type, 1, TAG);
      }
    } else if (rank == 1) {
      for (int i = 0; i < count; i++) {
        world.Recv(buffer, 0, length, type, 0, TAG);
        world.Send(buffer, 0, length, type, 0, TAG);
      }
    }
  }

  private void windows(Object buffer, int length, Datatype type, int count) {
    Request[] requests = new Request[WINDOW];
    byte[] answer = new byte[1];
    for (int i = 0; i < count; i++) {
      if (rank == 0) {
        for (int k = 0; k < WINDOW; k++) {
          requests[k] = world.Isend(buffer, 0, length, type, 1, TAG);
        }
        Request.Waitall(requests);
        world.Recv(answer, 0, 1, MPI.BYTE, 1, ANSWER);
      } else if (rank == 1) {
        for (int k = 0; k < WINDOW; k++) {
          requests[k] = world.Irecv(buffer, 0, length, type, 0, TAG);
        }
        Request.Waitall(requests);
        world.Send(answer, 0, 1, MPI.BYTE, 0, ANSWER);
      }
    }
  }

  private void barriers(int count) {
    for (int i = 0; i < count; i++) {
      world.Barrier();
    }
  }

  /** The root rotates over the ranks, so that it cannot run ahead of the others. */
  private void broadcasts(byte[] array, int count) {
    for (int i = 0; i < count; i++) {
      world.Bcast(array, 0, array.length, MPI.BYTE, i % size);
    }
  }

  private void reductions(double[] in, double[] out, int count) {
    for (int i = 0; i < count; i++) {
      world.Allreduce(in, 0, out, 0, in.length, MPI.DOUBLE, MPI.SUM);
    }
  }

  private void gatherings(byte[] own, byte[] all, int count) {
    for (int i = 0; i < count; i++) {
      world.Allgather(own, 0, own.length, MPI.BYTE, all, 0, own.length, MPI.BYTE);
    }
  }

  private void exchanges(byte[] out, byte[] in, int bytes, int count) {
    for (int i = 0; i < count; i++) {
      world.Alltoall(out, 0, bytes, MPI.BYTE, in, 0, bytes, MPI.BYTE);
    }
  }

  private void scatteredReductions(double[] in, double[] out, int count) {
    int[] parts = new int[size];
    Arrays.fill(parts, out.length);
    for (int i = 0; i < count; i++) {
      world.Reduce_scatter(in, 0, out, 0, parts, MPI.DOUBLE, MPI.SUM);
    }
  }

  /** A connection between ranks 0 and 1 that MPI knows nothing of. */
  private SocketChannel connect() throws IOException {
    int[] port = new int[1];
    SocketChannel channel;
    InetAddress here = InetAddress.getLoopbackAddress();
    if (rank == 0) {
      try (ServerSocketChannel listener =
          ServerSocketChannel.open().bind(new InetSocketAddress(here, 0))) {
        port[0] = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        world.Send(port, 0, 1, MPI.INT, 1, TAG);
        channel = listener.accept();
      }
    } else {
      world.Recv(port, 0, 1, MPI.INT, 0, TAG);
      channel = SocketChannel.open(new InetSocketAddress(here, port[0]));
    }
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    return channel;
  }

  private void pingPong(SocketChannel channel, ByteBuffer buffer, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      if (rank == 0) {
        write(channel, buffer);
        read(channel, buffer);
      } else {
        read(channel, buffer);
        write(channel, buffer);
      }
    }
  }

  private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
    buffer.clear();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private static void read(SocketChannel channel, ByteBuffer buffer) throws IOException {
    buffer.clear();
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException("the other rank has closed the connection");
      }
    }
  }

  /** This process's own memory, and its share of what it has in common with others, in KiB. */
  private void tellMemory() throws IOException {
    world.Barrier();
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
      if (line.startsWith("Pss:")) {
        System.out.println(MEMORY + " " + line.replaceAll("\\D", ""));
      }
    }
    world.Barrier();
  }

  /** Talks until the connections between the ranks have taken the transport that they will keep. */
  private void settle() throws IOException {
    byte[] array = new byte[1];
    long begin = System.nanoTime();
    boolean undecided;
    do {
      pingPong(array, 1, MPI.BYTE, SETTLING_ITERATIONS);
      long passed = System.nanoTime() - begin;
      undecided = passed < Math.min(SETTLED_NS, Transport.undecidedNs());
    } while (all(undecided));
  }

  /** What this thread has allocated. */
  private static final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    static long bytes() {
      return THREADS.getCurrentThreadAllocatedBytes();
    }
  }

  /** Apart, because only ranks with the agent have these classes. */
  private static final class Transport {
    private Transport() {}

    static long undecidedNs() {
      return TransportProbe.undecidedNs(1);
    }

    static String line() {
      TransportProbe.Transports transports = TransportProbe.look();
      return TRANSPORT
          + " "
          + transports.accelerated()
          + " "
          + transports.plain()
          + " "
          + transports.describe();
    }
  }
}
