// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.ring.SharedFiles;
import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * A rank that another launcher has started, which speaks PMI-1 over a socket that it has left open
 * ({@code PMI_FD}) or listens on ({@code PMI_PORT}): MPICH's {@code mpiexec}; or PMI-2 over one
 * that it has left open, and names the job ({@code PMI_JOBID}): Slurm's {@code srun}. It ends the
 * ranks when one fails; ours is to find each other, and to leave no shared files.
 */
public final class PmiJob implements Job, Opening.Exchange {
  private static final String RANK = "PMI_RANK";
  private static final String SIZE = "PMI_SIZE";
  private static final String DESCRIPTOR = "PMI_FD";
  private static final String PORT = "PMI_PORT";
  private static final String ID = "PMI_ID";
  private static final String JOB = "PMI_JOBID";

  /** A launcher that hears of an abort ends at once, with what it has not yet carried. */
  private static final long CARRIED_MS = 200;

  private final int rank;
  private final int size;
  private final Settings settings;
  private final Pmi link;
  private byte[] secret;
  private Opening opening;

  /** The directory of shared files on this host, if this rank has made it. */
  private Path made;

  private PmiJob(int rank, int size, Settings settings, Pmi link) {
    this.rank = rank;
    this.size = size;
    this.settings = settings;
    this.link = link;
  }

  /**
   * Joins the job that the environment describes.
   *
   * @return this rank's job; null if no such launcher has started it
   * @throws UncheckedIOException if the exchange with the launcher fails
   */
  public static Job find() {
    Map<String, String> environment = System.getenv();
    boolean open = environment.containsKey(DESCRIPTOR) && environment.containsKey(SIZE);
    if (!open && !environment.containsKey(PORT)) {
      return null;
    }
    try {
      Settings settings = Settings.of(System.getProperties());
      if (!open) {
        PmiLink link = connect(environment.get(PORT), number(environment, ID, 0));
        return new PmiJob(link.rank(), link.size(), settings, link);
      }
      InheritedSocket socket = new InheritedSocket(number(environment, DESCRIPTOR, 0));
      int rank = number(environment, RANK, 0);
      int size = number(environment, SIZE, 1);
      String job = environment.get(JOB);
      Pmi link =
          job == null
              ? new PmiLink(socket.input(), socket.output())
              : new Pmi2Link(socket.input(), socket.output(), job, rank);
      return new PmiJob(rank, size, settings, link);
    } catch (IOException e) {
      throw new UncheckedIOException("the launcher cannot be spoken with: " + e.getMessage(), e);
    }
  }

  private static int number(Map<String, String> environment, String name, int least)
      throws IOException {
    String value = environment.getOrDefault(name, "");
    if (!value.matches("[0-9]{1,9}") || Integer.parseInt(value) < least) {
      throw new IOException(name + "=" + value + ": a number from " + least + " is allowed");
    }
    return Integer.parseInt(value);
  }

  /** Connects to HOST:PORT: the launcher first expects the number of this process. */
  private static PmiLink connect(String address, int id) throws IOException {
    int colon = address.lastIndexOf(':');
    if (colon < 1 || !address.substring(colon + 1).matches("[0-9]{1,5}")) {
      throw new IOException(PORT + "=" + address + ": HOST:PORT is allowed");
    }
    Socket socket =
        new Socket(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    socket.setTcpNoDelay(true);
    return PmiLink.handshake(socket.getInputStream(), socket.getOutputStream(), id);
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Engine open() {
    try {
      String here = host();
      link.put("host" + rank, here);
      link.barrier();
      int[] hostOfRank = hosts();
      int leader = leader(hostOfRank);
      if (rank == leader) {
        make(hostOfRank);
        link.put("directory" + rank, made.toString());
      }
      if (rank == 0) {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        link.put("secret", HexFormat.of().formatHex(random));
      }
      link.barrier();
      secret = HexFormat.of().parseHex(link.get("secret"));
      Path directory = Path.of(link.get("directory" + leader));
      if (rank != leader) {
        // Of a job that fails any rank may be the only one that is not killed.
        made = directory;
        deleteAtTheEnd();
      }
      opening = new Opening(rank, hostOfRank, device(hostOfRank), directory, settings, this);
      int cores = Runtime.getRuntime().availableProcessors();
      Engine engine = new Engine(opening.device(), settings.waiting(opening.ranksHere(), cores));
      link.barrier();
      return engine;
    } catch (MissingTransportException e) {
      abort(
          ProcessJob.STATUS_MISSING,
          "rank " + rank + " cannot use " + e.what() + ": " + e.getMessage());
      throw new IllegalStateException(e);
    } catch (IOException | RuntimeException e) {
      abort(1, "rank " + rank + " cannot join the job: " + e.getMessage());
      throw new IllegalStateException(e);
    }
  }

  /** What tells this host from others: where two processes see the same shared memory. */
  private static String host() throws IOException {
    Path mounts = Path.of("/proc/self/ns/mnt");
    return text("/proc/sys/kernel/random/boot_id")
        + " "
        + (Files.isSymbolicLink(mounts) ? Files.readSymbolicLink(mounts) : "")
        + " "
        + text("/proc/sys/kernel/hostname");
  }

  private static String text(String file) throws IOException {
    Path path = Path.of(file);
    return Files.isReadable(path) ? Files.readString(path).strip() : "";
  }

  private int[] hosts() throws IOException {
    Map<String, Integer> numbers = new HashMap<>();
    int[] hostOfRank = new int[size];
    for (int i = 0; i < size; i++) {
      Integer number = numbers.putIfAbsent(link.get("host" + i), numbers.size());
      hostOfRank[i] = number == null ? numbers.size() - 1 : number;
    }
    return hostOfRank;
  }

  /** The lowest rank on this host. */
  private int leader(int[] hostOfRank) {
    int leader = 0;
    while (hostOfRank[leader] != hostOfRank[rank]) {
      leader++;
    }
    return leader;
  }

  private void make(int[] hostOfRank) throws IOException {
    JobDirectory.sweep(settings.directory());
    int here = 0;
    for (int host : hostOfRank) {
      here += host == hostOfRank[rank] ? 1 : 0;
    }
    NoRoomException.check(
        JobDirectory.parent(settings.directory()), size, here, settings.ringBytes());
    made = JobDirectory.create(settings.directory());
    deleteAtTheEnd();
    JobDirectory.own(made);
    SharedFiles.prepare(made, size);
  }

  private void deleteAtTheEnd() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::delete, "talaria-mpj-sweep"));
  }

  private void delete() {
    if (made != null) {
      JobDirectory.delete(made);
    }
  }

  private String device(int[] hostOfRank) throws IOException {
    boolean one = true;
    for (int host : hostOfRank) {
      one &= host == hostOfRank[rank];
    }
    String wanted = settings.device();
    if (wanted.equals("shm") && !one) {
      throw new IOException(
          "talaria.mpj.device=shm is for one host: auto, nio, ucx or ibv is allowed");
    }
    if (!wanted.equals("auto")) {
      return wanted;
    }
    return one ? "shm" : "auto";
  }

  @Override
  public byte[] secret() {
    return secret.clone();
  }

  @Override
  public List<String> rankAddresses(String mine) throws IOException {
    link.put("address" + rank, mine);
    link.barrier();
    List<String> rankAddresses = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      rankAddresses.add(link.get("address" + i));
    }
    return rankAddresses;
  }

  @Override
  public void finish(Engine engine) {
    Thread meeting = new Thread(this::meet, "talaria-mpj-finish");
    meeting.setDaemon(true);
    meeting.start();
    // Others may want something of this rank until they are there, too.
    while (meeting.isAlive()) {
      engine.progress();
      LockSupport.parkNanos(100_000);
    }
    opening.sayLastWords();
    delete();
  }

  private void meet() {
    try {
      link.meet(rank, size);
      link.end();
      link.close();
    } catch (IOException e) {
      abort(1, "rank " + rank + " cannot leave the job: " + e.getMessage());
    } catch (RuntimeException | Error e) {
      abort(1, "rank " + rank + " cannot leave the job: " + e);
    }
  }

  @Override
  public void abort(int status, String why) {
    System.out.flush();
    System.err.println("talaria mpj: " + why);
    try {
      Thread.sleep(CARRIED_MS);
      // As late as can be: a rank that meets another now finds no directory, and fails of that.
      delete();
      link.abort(status);
    } catch (InterruptedException | IOException e) {
      // The end of this process says it, too.
    }
    Runtime.getRuntime().halt(status);
  }
}
