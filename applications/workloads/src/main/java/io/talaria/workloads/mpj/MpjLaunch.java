// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.result.FileFault;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import io.talaria.ffi.Errno;
import io.talaria.mpj.kernels.CompilerRest;
import io.talaria.mpj.launch.Mpirun;
import io.talaria.nio.Connections;
import io.talaria.ucx.Ucx;
import io.talaria.workloads.run.ScratchFolder;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts the ranks of each implementation by its own launcher, and reads what they have found. What
 * is in C is compiled here, once. Used by one thread; closing it removes its files.
 */
final class MpjLaunch implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration COMPILE_LIMIT = Duration.ofMinutes(2);
  private static final String UCX_TLS = "UCX_TLS";

  /** What the kernels in C include. */
  private static final String HEADER = "common.h";

  /** Open MPI wants to be asked before it runs for root, as in containers. */
  private static final Map<String, String> OPEN_MPI =
      Map.of(
          "OMPI_ALLOW_RUN_AS_ROOT",
          "1",
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
          "1",
          "OMPI_MCA_hwloc_base_binding_policy",
          "none",
          "OMPI_MCA_rmaps_base_oversubscribe",
          "1");

  private final Pinning pinning;
  private final ScratchFolder folder;

  /** Those in C that are wanted, without what their files end with. */
  private final Set<String> programs = new TreeSet<>();

  private final Map<MpjImplementation, String> absent = new EnumMap<>(MpjImplementation.class);
  private Path agent;

  private MpjLaunch(Pinning pinning) throws HarnessException {
    this.pinning = pinning;
    folder = ScratchFolder.make();
  }

  /**
   * Prepares what is needed to start some implementations.
   *
   * @param implementations which
   * @param patterns what they will be asked to do
   * @param agent the agent's jar, or null to look for it
   * @param pinning on which two cores ranks run, if on any
   * @return what is to be closed
   * @throws HarnessException if files cannot be written
   * @throws InterruptedException if interrupted
   */
  static MpjLaunch prepare(
      List<MpjImplementation> implementations,
      List<MpjPattern> patterns,
      Path agent,
      Pinning pinning)
      throws HarnessException, InterruptedException {
    MpjLaunch launch = new MpjLaunch(pinning);
    patterns.stream()
        .map(MpjPattern::programInC)
        .filter(Objects::nonNull)
        .forEach(launch.programs::add);
    try {
      for (MpjImplementation implementation : implementations) {
        Optional<String> why = launch.unavailableReason(implementation, agent);
        why.ifPresent(text -> launch.absent.put(implementation, text));
      }
      return launch;
    } catch (HarnessException | InterruptedException | RuntimeException e) {
      launch.close();
      throw e;
    }
  }

  /** Returns the implementations that cannot be run here, with the reason and what to do. */
  Map<MpjImplementation, String> absent() {
    return new TreeMap<>(absent);
  }

  private Optional<String> unavailableReason(MpjImplementation implementation, Path givenAgent)
      throws HarnessException, InterruptedException {
    return switch (implementation) {
      case SHM, SHM_PROGRESS, NIO, SOCKETS -> Optional.empty();
      case UCX -> Ucx.unavailableReason();
      case NIO_AGENT -> findAgent(givenAgent);
      case OMPI_OB1, OMPI_UCX -> compile("openmpi", "openmpi-bin and libopenmpi-dev");
      case MPICH -> compile("mpich", "mpich and libmpich-dev");
      case EXPRESS, EXPRESS_NIO -> MpjExpress.unavailableReason();
      case PERFTEST ->
          UcxPerftest.installed()
              ? Optional.empty()
              : Optional.of("ucx_perftest is not installed: install ucx-utils");
    };
  }

  /** One that the user names must be there. */
  private Optional<String> findAgent(Path given) throws HarnessException {
    try {
      agent = AgentJar.locate(given).file();
      return Optional.empty();
    } catch (HarnessException e) {
      if (given != null) {
        throw e;
      }
      return Optional.of(e.getMessage());
    }
  }

  private Path program(String name, String library) {
    return folder.path().resolve(name + "." + library);
  }

  private Optional<String> compile(String library, String packages)
      throws HarnessException, InterruptedException {
    for (String needed : List.of("mpicc." + library, "mpirun." + library)) {
      if (Pinning.find(needed) == null) {
        return Optional.of(needed + " is not installed: install " + packages);
      }
    }
    if (Pinning.find("gcc") == null) {
      return Optional.of("gcc is not installed: install gcc");
    }
    source(HEADER);
    for (String name : programs) {
      Path program = program(name, library);
      if (!Files.exists(program)) {
        Path source = source(name + ".c");
        try {
          compile(library, source, program);
        } catch (HarnessException e) {
          return Optional.of(e.getMessage() + "; is it all there? install " + packages);
        }
      }
    }
    return Optional.empty();
  }

  private void compile(String library, Path source, Path program)
      throws HarnessException, InterruptedException {
    String compiler = "mpicc." + library;
    List<String> words =
        List.of(compiler, "-O3", "-o", program.toString(), source.toString(), "-lm");
    RankProcess.Command command = new RankProcess.Command(words, Map.of());
    try (RankProcess process = RankProcess.start(compiler, command, folder.path())) {
      process.await(COMPILE_LIMIT);
    }
  }

  private Path source(String file) throws HarnessException {
    Path source = folder.path().resolve(file);
    try (InputStream in = MpjLaunch.class.getResourceAsStream(file)) {
      return Files.write(source, in.readAllBytes());
    } catch (IOException e) {
      throw new HarnessException("cannot write " + source + ": " + FileFault.reason(e), e);
    }
  }

  /**
   * Measures.
   *
   * @param implementation the implementation
   * @param job what
   * @return what its ranks found, with a figure for each size
   * @throws HarnessException if it failed, or its connections were not accelerated though they
   *     should be
   * @throws InterruptedException if interrupted
   */
  MpjFound measure(MpjImplementation implementation, MpjJob job)
      throws HarnessException, InterruptedException {
    return switch (implementation) {
      case PERFTEST -> new MpjFound(perftest(job), Map.of(), Double.NaN);
      case EXPRESS_NIO -> {
        MpjExpress express = express();
        try (RankProcess daemon = express.daemon()) {
          MpjFound found = figures(implementation, job, command(implementation, job));
          if (!daemon.alive()) {
            throw new HarnessException("the daemon of MPJ Express has ended");
          }
          yield found;
        }
      }
      default -> figures(implementation, job, command(implementation, job));
    };
  }

  private MpjExpress express() {
    return new MpjExpress(bothCores(), folder.path());
  }

  private MpjFound figures(
      MpjImplementation implementation, MpjJob job, RankProcess.Command command)
      throws HarnessException, InterruptedException {
    String said;
    long begin = System.nanoTime();
    try (RankProcess process = RankProcess.start(implementation.label(), command, folder.path())) {
      said = process.await(LIMIT);
    }
    long elapsedNs = System.nanoTime() - begin;
    MpjOutput output = new MpjOutput(said);
    Map<Integer, Double> found = output.figures(job, elapsedNs);
    if (!found.keySet().containsAll(job.sizes())) {
      throw new HarnessException(implementation + " printed no figures" + RankProcess.last(said));
    }
    if (implementation == MpjImplementation.NIO_AGENT
        && job.program() == Ranks.class
        && job.pattern() != MpjPattern.MEMORY) { // Such ranks hardly send anything.
      output.requireAccelerated();
    }
    return new MpjFound(found, output.fastest(job), output.communication());
  }

  private RankProcess.Command command(MpjImplementation implementation, MpjJob job)
      throws HarnessException {
    return switch (implementation) {
      case SHM -> own(job, List.of("-dev", "shm"), job.arguments());
      case SHM_PROGRESS -> own(job, List.of("-dev", "shm", "-progress-thread"), job.arguments());
      case UCX ->
          own(
              job,
              List.of("-dev", "ucx", "-x", UCX_TLS + "=" + UcxPerftest.SHARED_MEMORY),
              job.arguments());
      case NIO -> own(job, List.of("-dev", "nio"), job.arguments());
      case NIO_AGENT -> {
        List<String> arguments = new ArrayList<>(job.arguments());
        if (job.program() == Ranks.class) {
          arguments.add(Ranks.TRANSPORT);
        }
        yield own(
            job,
            List.of(
                "-dev",
                "nio",
                "-javaagent:" + agent,
                "-Dtalaria.quiet=true",
                "-cp",
                places(job.program(), CompilerRest.class, TransportProbe.class)),
            arguments);
      }
      case SOCKETS -> own(job, List.of("-dev", "shm"), job.arguments("sockets"));
      case OMPI_OB1 -> openMpi(job, Map.of("OMPI_MCA_pml", "ob1"));
      case OMPI_UCX ->
          openMpi(
              job,
              Map.of(
                  "OMPI_MCA_pml",
                  "ucx",
                  "OMPI_MCA_pml_ucx_tls",
                  "any",
                  "OMPI_MCA_pml_ucx_devices",
                  "any",
                  UCX_TLS,
                  UcxPerftest.SHARED_MEMORY));
      case MPICH -> new RankProcess.Command(inC("mpich", job), Map.of());
      case EXPRESS, EXPRESS_NIO -> {
        List<String> program = new ArrayList<>(List.of(job.program().getName()));
        program.addAll(job.arguments());
        String device = implementation == MpjImplementation.EXPRESS ? "multicore" : "niodev";
        yield express().run(device, job.ranks(), programPath(job), program);
      }
      case PERFTEST -> throw new IllegalArgumentException("ucx_perftest has no ranks");
    };
  }

  private RankProcess.Command own(MpjJob job, List<String> options, List<String> arguments) {
    String path = places(Mpirun.class, Ucx.class, Errno.class, Connections.class);
    List<String> words = new ArrayList<>(bothCores());
    words.add(java().toString());
    words.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path));
    words.addAll(List.of(Mpirun.class.getName(), "-np", "" + job.ranks()));
    if (pinning.active()) {
      words.add("-bind");
    }
    words.addAll(options);
    if (!options.contains("-cp")) {
      words.addAll(List.of("-cp", programPath(job)));
    }
    words.add(job.program().getName());
    words.addAll(arguments);
    return new RankProcess.Command(words, Map.of());
  }

  private RankProcess.Command openMpi(MpjJob job, Map<String, String> pml) {
    Map<String, String> environment = new HashMap<>(OPEN_MPI);
    environment.putAll(pml);
    return new RankProcess.Command(inC("openmpi", job), environment);
  }

  /** A program for each rank, as both launchers take it, because each has its own core. */
  private List<String> inC(String library, MpjJob job) {
    List<String> words = new ArrayList<>(List.of("mpirun." + library));
    for (int rank = 0; rank < job.ranks(); rank++) {
      if (rank > 0) {
        words.add(":");
      }
      words.addAll(List.of("-np", "1"));
      words.addAll(Pinning.prefix(rank % 2 == 0 ? pinning.serverCore() : pinning.clientCore()));
      words.add(program(job.pattern().programInC(), library).toString());
      words.addAll(job.arguments());
    }
    return words;
  }

  private Map<Integer, Double> perftest(MpjJob job) throws HarnessException, InterruptedException {
    UcxPerftest program = new UcxPerftest(pinning);
    boolean half = job.pattern() == MpjPattern.HALF;
    List<String> options = half ? List.of() : List.of("-O", "" + Ranks.WINDOW);
    Map<Integer, Double> found = new TreeMap<>();
    for (int bytes : job.sizes()) {
      long count = (long) job.count(bytes) * (half ? 1 : Ranks.WINDOW);
      UcxPerftest.Figures figures =
          program.run(
              new UcxPerftest.Test(
                  half ? "tag_lat" : "tag_bw",
                  bytes,
                  2 * count,
                  options,
                  UcxPerftest.SHARED_MEMORY),
              LIMIT);
      found.put(
          bytes,
          switch (job.pattern()) {
            case HALF -> figures.averageNs();
            case RATE -> figures.perSecond();
            default -> figures.gigabytesPerSecond();
          });
    }
    return found;
  }

  /** The words that keep a tree of processes on the two cores. */
  private List<String> bothCores() {
    return pinning.active()
        ? List.of("taskset", "-c", pinning.serverCore() + "," + pinning.clientCore())
        : List.of();
  }

  /** The class path of a program for ranks. */
  private static String programPath(MpjJob job) {
    return places(job.program(), CompilerRest.class);
  }

  /** The class path of some classes. */
  private static String places(Class<?>... classes) {
    return Stream.of(classes)
        .map(MpjLaunch::placeOf)
        .distinct()
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Returns the program {@code java} of this JVM. */
  static Path java() {
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  private static Path placeOf(Class<?> one) {
    try {
      return Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    folder.close();
  }
}
