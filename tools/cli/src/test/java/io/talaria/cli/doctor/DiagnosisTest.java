// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.doctor.checks.DirectoryChecks;
import io.talaria.cli.doctor.checks.Finding;
import io.talaria.cli.doctor.checks.HostChecks;
import io.talaria.cli.doctor.checks.JavaChecks;
import io.talaria.cli.doctor.checks.JucxChecks;
import io.talaria.cli.doctor.checks.MpjChecks;
import io.talaria.cli.doctor.checks.NetworkChecks;
import io.talaria.cli.doctor.checks.RdmaChecks;
import io.talaria.cli.doctor.checks.Status;
import io.talaria.cli.doctor.checks.Surroundings;
import io.talaria.cli.doctor.checks.Surroundings.HostFiles;
import io.talaria.cli.doctor.checks.SystemFiles;
import io.talaria.cli.harness.Json;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the doctor finds, and what it prescribes. */
@Timeout(60)
class DiagnosisTest {
  private static final int RING_BYTES = 32 << 10;
  private static final HostFiles NO_HOSTS = new HostFiles(null, null, 10_000);

  @TempDir Path temp;

  private Path root;

  @BeforeEach
  void makeRoot() throws IOException {
    root = Files.createDirectory(temp.resolve("root"));
    system("/proc/sys/kernel/random/boot_id", "b-o-o-t\n");
    system("/proc/sys/vm/max_map_count", "65530\n");
    system(
        "/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
            + "Max open files            20000                20000                files\n");
  }

  private void system(String path, String content) throws IOException {
    Path file = root.resolve(path.substring(1));
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private Surroundings here(int cores, long spinNs) {
    return new Surroundings(
        root,
        temp.resolve("run"),
        temp.resolve("shm"),
        RING_BYTES,
        4 << 20,
        spinNs,
        cores,
        temp.resolve("talaria.jar"),
        "",
        List.of(temp.resolve("jdks")),
        NO_HOSTS);
  }

  private Surroundings here() {
    return here(4, 20_000);
  }

  private static void assertFinding(Finding finding, Status status, String... words) {
    assertThat(finding.status()).as(finding.toString()).isEqualTo(status);
    assertThat(finding.found() + " / " + finding.hint()).contains(words);
    assertThat(finding.hint().isEmpty()).as("no hint").isEqualTo(status == Status.OK);
  }

  // Directories

  @Test
  void usableDirectoriesAreFine() {
    assertFinding(DirectoryChecks.runtimeDirectory(here()), Status.OK, "this user's alone (0700)");
    assertFinding(DirectoryChecks.peerCredentials(here()), Status.OK, "the peer is user");
    assertFinding(
        DirectoryChecks.room(here(), "tmpfs", 64 << 20, 64 << 20),
        Status.OK,
        "64 MiB free of 64 MiB: room for 948 connections of 68 KiB, which grow to 8.0 MiB");
    assertThat(temp.resolve("run")).isEmptyDirectory();
  }

  @Test
  void theSharedMemoryDirectoryIsReallyUsedAndLeftEmpty() {
    Finding finding = DirectoryChecks.sharedMemory(here());
    assertThat(finding.isFatal()).isFalse();
    assertThat(finding.found()).contains(temp.resolve("shm") + " on ");
    assertThat(temp.resolve("shm")).isEmptyDirectory();
  }

  @Test
  void aDirectoryOpenToOthersIsRefusedWithTheHint() throws Exception {
    for (String name : List.of("run", "shm")) {
      Path open = Files.createDirectory(temp.resolve(name));
      Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    assertFinding(
        DirectoryChecks.runtimeDirectory(here()),
        Status.MISSING,
        "has mode rwxr-xr-x",
        "chmod 700 " + temp.resolve("run"),
        Reason.INSECURE_DIR.hint());
    assertFinding(DirectoryChecks.sharedMemory(here()), Status.MISSING, Reason.INSECURE_DIR.hint());
    assertThat(DirectoryChecks.sharedMemory(here()).isFatal()).isTrue();
  }

  @Test
  void aDirectoryThatCannotBeMadeIsSaid() throws Exception {
    Files.writeString(temp.resolve("file"), "");
    Surroundings broken =
        new Surroundings(
            root,
            temp.resolve("file/run"),
            temp.resolve("file/shm"),
            RING_BYTES,
            RING_BYTES,
            0,
            1,
            null,
            "",
            List.of(),
            NO_HOSTS);
    assertFinding(
        DirectoryChecks.runtimeDirectory(broken), Status.MISSING, Reason.NO_RUNTIME_DIR.hint());
    assertFinding(DirectoryChecks.peerCredentials(broken), Status.MISSING, "no Unix-domain socket");
    assertFinding(DirectoryChecks.sharedMemory(broken), Status.MISSING, Reason.NO_SHM_DIR.hint());
  }

  @Test
  void aPathTooLongForASocketIsSaid() throws Exception {
    Path deep = Files.createDirectories(temp.resolve("d".repeat(120)));
    Surroundings here =
        new Surroundings(
            root, deep, deep, RING_BYTES, RING_BYTES, 0, 1, null, "", List.of(), NO_HOSTS);
    assertFinding(
        DirectoryChecks.peerCredentials(here), Status.MISSING, "talaria.dir to a short path");
  }

  @Test
  void memoryWithoutALimitIsFine() {
    assertFinding(
        DirectoryChecks.room(here(), "tmpfs", 0, Long.MAX_VALUE), Status.OK, "without a limit");
  }

  @Test
  void littleRoomIsSaid() {
    assertFinding(
        DirectoryChecks.room(here(), "tmpfs", 64 << 20, 2 << 20),
        Status.WARN,
        "room for 15 connections",
        "--shm-size");
    Finding none = DirectoryChecks.room(here(), "tmpfs", 64 << 20, 1 << 20);
    assertFinding(none, Status.MISSING, "room for 0 connections", "--shm-size");
    assertThat(none.isFatal()).isTrue();
    assertFinding(
        DirectoryChecks.room(here(), "ext4", 1L << 40, 1L << 40), Status.WARN, "on a tmpfs");
  }

  // Host

  @Test
  void coresSayWhoMaySpin() {
    assertFinding(
        HostChecks.cores(here()),
        Status.OK,
        "4 cores; at most 2 threads of a process spin 20.0 µs");
    assertFinding(HostChecks.cores(here(2, 0)), Status.OK, "threads do not spin");
    assertFinding(HostChecks.cores(here(1, 20_000)), Status.WARN, "1 core", "talaria.spin.ns=0");
  }

  @Test
  void identityNeedsProc() throws Exception {
    assertFinding(HostChecks.bootId(here()), Status.OK, "b-o-o-t");
    Files.delete(root.resolve("proc/sys/kernel/random/boot_id"));
    assertFinding(HostChecks.bootId(here()), Status.MISSING, "Mount /proc");
    assertThat(HostChecks.bootId(here()).isFatal()).isTrue();
    assertFinding(HostChecks.networkNamespace("net:[7]"), Status.OK, "net:[7]");
    assertFinding(HostChecks.networkNamespace(""), Status.MISSING, "Mount /proc");
  }

  @Test
  void limitsAreRead() throws Exception {
    assertFinding(
        HostChecks.mappings(here()), Status.OK, "vm.max_map_count = 65530, room for about 21843");
    assertFinding(HostChecks.openFiles(here()), Status.OK, "20000 a process");
    system("/proc/sys/vm/max_map_count", "1000");
    system("/proc/self/limits", "Max open files            1024                 1024   files");
    assertFinding(HostChecks.mappings(here()), Status.WARN, "sysctl -w vm.max_map_count=65530");
    assertFinding(HostChecks.openFiles(here()), Status.WARN, "ulimit -n 4096");
    system("/proc/self/limits", "Max open files            unlimited            unlimited files");
    assertFinding(HostChecks.openFiles(here()), Status.OK, "unlimited");
    system("/proc/self/limits", "");
    Files.delete(root.resolve("proc/sys/vm/max_map_count"));
    assertFinding(HostChecks.mappings(here()), Status.WARN, "cannot be read");
    assertFinding(HostChecks.openFiles(here()), Status.WARN, "cannot be read");
  }

  @Test
  void theKernelsOwnNumbersAreReadWhole() {
    assertThat(SystemFiles.number(Path.of("/proc/sys/vm/max_map_count"))).isGreaterThan(1000);
  }

  // Java

  @Test
  void javaVersionsAreJudged() {
    assertFinding(JavaChecks.running(25, "VM 25"), Status.OK, "VM 25");
    assertFinding(JavaChecks.running(21, "VM 21"), Status.WARN, "want Java 25");
    assertFinding(JavaChecks.running(11, "VM 11"), Status.MISSING, "Java 17 or newer");
  }

  @Test
  void aJdk17IsFoundByItsReleaseFile() throws Exception {
    assertFinding(JavaChecks.seventeen(here().jdkHomes()), Status.WARN, "none found in " + temp);
    Path home = temp.resolve("jdks/some-jdk");
    Files.createDirectories(home.resolve("bin"));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
    Path java = Files.writeString(home.resolve("bin/java"), "");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    assertFinding(JavaChecks.seventeen(here().jdkHomes()), Status.OK, home.toString());
  }

  @Test
  void anAgentThatIsMissingIsSaid() {
    assertFinding(JavaChecks.agent(temp.resolve("talaria.jar")), Status.MISSING, "./talaria build");
  }

  // Networks

  @Test
  void jucxIsLookedAtWhereItsPropertyPoints() throws Exception {
    Map<String, String> environment = new HashMap<>();
    assertFinding(
        JucxChecks.jucx(null, environment::get), Status.MISSING, "names none", "org.openucx:jucx");
    Path jar = temp.resolve("jucx.jar");
    assertFinding(JucxChecks.jucx(jar, environment::get), Status.MISSING, "is no JUCX");
    writeJucx(jar, "1.12.1");
    assertFinding(JucxChecks.jucx(jar, environment::get), Status.MISSING, "is 1.12.1, which leaks");
    writeJucx(jar, "1.15.0");
    assertFinding(
        JucxChecks.jucx(jar, environment::get), Status.WARN, "is 1.15.0", "UCX_LOG_FILE=stderr");
    environment.put("UCX_LOG_FILE", "stderr");
    environment.put("UCX_HANDLE_ERRORS", "none");
    assertFinding(JucxChecks.jucx(jar, environment::get), Status.OK, "is 1.15.0");
  }

  private static void writeJucx(Path jar, String version) throws Exception {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry("org/openucx/jucx/ucp/UcpContext.class"));
      out.putNextEntry(new ZipEntry("META-INF/maven/org.openucx/jucx/pom.properties"));
      out.write(("version=" + version + "\n").getBytes(StandardCharsets.ISO_8859_1));
    }
  }

  @Test
  void ucxIsFoundWhereTheLoaderLooks() throws Exception {
    assertFinding(NetworkChecks.ucx(here()), Status.MISSING, "no libucp.so.0", "apt install");
    system("/etc/ld.so.conf.d/ucx.conf", "# a comment\n/opt/ucx/lib\n");
    system("/opt/ucx/lib/libucp.so.0", "");
    assertFinding(
        NetworkChecks.ucx(here()), Status.OK, root.resolve("opt/ucx/lib/libucp.so.0").toString());
  }

  @Test
  void rdmaDevicesAreListedWithTheirPorts() throws Exception {
    assertFinding(NetworkChecks.infiniband(here()), Status.MISSING, "rdma link add");
    system("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    system("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
    assertFinding(NetworkChecks.infiniband(here()), Status.OK, "mlx5_0 (port 1 ACTIVE InfiniBand)");
  }

  @Test
  void onAnOlderJavaItSaysWhatWorksAndWhatWantsMore() throws Exception {
    Files.createDirectories(root.resolve("dev/shm"));
    system("/usr/lib/libucp.so.0", "");
    assertFinding(
        MpjChecks.devices(here(), 17),
        Status.WARN,
        "needs Java 25 or newer, and this is Java 17",
        "TALARIA_JAVA_HOME");
    assertFinding(
        JavaChecks.running(17, "VM 17"),
        Status.WARN,
        "run, ss, doctor and demo",
        "Message passing (mpirun), messaging",
        "building from the sources want Java 25");
  }

  @Test
  void devicesOfMessagePassingAreNamedAndWhatIsMissing() throws Exception {
    assertFinding(
        MpjChecks.devices(here(), 25),
        Status.WARN,
        "smdev, niodev; between hosts auto takes niodev, as no RDMA port is up",
        "no shmdev: /dev/shm is no directory",
        "no ucxdev: no libucp.so.0",
        "--shm-size",
        "apt install libucx0");
    Files.createDirectories(root.resolve("dev/shm"));
    assertFinding(
        MpjChecks.devices(here(), 25),
        Status.MISSING,
        "shmdev (/dev/shm has room for",
        "no ucxdev");
    system("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    assertFinding(
        MpjChecks.devices(here(), 25),
        Status.MISSING,
        "niodev, as there is neither libibverbs.so.1 nor UCX");
    system("/usr/lib/libucp.so.0", "");
    assertFinding(
        MpjChecks.devices(here(), 25),
        Status.OK,
        "smdev, niodev, ucxdev; between hosts auto takes ucxdev");
    system("/usr/lib/libibverbs.so.1", "");
    assertFinding(
        MpjChecks.devices(here(), 25),
        Status.OK,
        "smdev, niodev, ucxdev, ibvdev; between hosts auto takes ibvdev");
    // As docs/mpj.md counts: 16 ranks 16 MiB, 64 ranks 268 MiB.
    assertThat(MpjChecks.ranksIn(100_000)).isEqualTo(1);
    assertThat(MpjChecks.ranksIn(16_400L << 10)).isEqualTo(16);
    assertThat(MpjChecks.ranksIn(16_300L << 10)).isEqualTo(15);
    assertThat(MpjChecks.ranksIn(Long.MAX_VALUE / 2)).isEqualTo(1000);
  }

  // The whole

  @Test
  void onlyWhatIsEssentialDecides() {
    Diagnosis fine =
        new Diagnosis(
            List.of(
                Finding.ok("JDK", "25").asEssential(),
                Finding.missing("RDMA devices", "none", "Buy one."),
                Finding.warn("cores", "1 core", "Add one.")));
    assertThat(fine.sharedMemoryWorks()).isTrue();
    assertThat(fine.text())
        .isEqualTo(
            """
            ok       JDK           25
            missing  RDMA devices  none
                                   → Buy one.
            warn     cores         1 core
                                   → Add one.

            Connections between processes of this user on this host can use shared memory.
            """);
    Diagnosis ill =
        new Diagnosis(List.of(Finding.missing("shared memory", "none", "Mount.").asEssential()));
    assertThat(ill.sharedMemoryWorks()).isFalse();
    assertThat(ill.text())
        .endsWith("Connections stay on TCP until this is mended: shared memory.\n");
  }

  private record Outcome(int status, String out) {}

  private static Outcome run(String... args) {
    StringWriter out = new StringWriter();
    int status = new CommandLine(new DoctorCommand()).setOut(new PrintWriter(out)).execute(args);
    return new Outcome(status, out.toString());
  }

  @Test
  void theCommandSaysByItsStatusWhetherSharedMemoryWorks() throws Exception {
    String dir = temp.resolve("run").toString();
    Outcome works = run("--json", "--dir", dir, "--shm-dir", temp.resolve("shm").toString());
    assertThat(works.status()).as(works.out()).isZero();
    JsonNode tree = Json.parse(works.out());
    assertThat(tree.get("sharedMemoryWorks").asBoolean()).isTrue();
    assertThat(tree.get("checks")).hasSizeBetween(15, 18);

    Files.writeString(temp.resolve("file"), "");
    Outcome fails = run("--dir", dir, "--shm-dir", temp.resolve("file").toString());
    assertThat(fails.status()).isEqualTo(1);
    assertThat(fails.out()).contains("missing  shared memory", "is not a directory");
    assertThat(run("--help").out()).contains("Exit status:", "talaria doctor --json");
  }

  // RDMA

  @Test
  void missingRdmaLibrariesAreNamedWithTheirPackages() throws Exception {
    assertFinding(
        RdmaChecks.libraries(here()), Status.MISSING, "libibnetdisc.so.5", "libibnetdisc5");
    for (String name :
        List.of(
            "libibverbs.so.1",
            "librdmacm.so.1",
            "libibumad.so.3",
            "libibmad.so.5",
            "libibnetdisc.so.5")) {
      system("/usr/lib/" + name, "");
    }
    assertFinding(RdmaChecks.libraries(here()), Status.OK, "libibverbs.so.1");
    assertThat(RdmaChecks.all(here())).hasSize(1);
  }

  @Test
  void aDeviceThatThisUserMayNotUseIsNamed() throws Exception {
    system("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
    assertFinding(RdmaChecks.permissions(here()), Status.MISSING, "modprobe ib_uverbs");
    system("/dev/infiniband/uverbs0", "");
    assertFinding(RdmaChecks.permissions(here()), Status.OK, "/dev/infiniband");
    assertThat(RdmaChecks.all(here()))
        .extracting(Finding::name)
        .containsExactly("RDMA libraries", "RDMA permissions", "locked memory");
  }

  @Test
  void anInfinibandPortWithoutASubnetManagerIsNamed() throws Exception {
    String port = "/sys/class/infiniband/mlx5_0/ports/1/";
    system(port + "link_layer", "InfiniBand\n");
    system(port + "state", "2: INIT\n");
    system(port + "lid", "0x0\n");
    assertFinding(
        RdmaChecks.subnetManager(here()).get(0), Status.WARN, "mlx5_0/1 has a link", "opensm");
    system(port + "lid", "0x1f\n");
    assertFinding(RdmaChecks.subnetManager(here()).get(0), Status.OK, "mlx5_0/1 has LID 0x1f");
    system(port + "state", "1: DOWN\n");
    assertThat(RdmaChecks.subnetManager(here())).isEmpty();
  }
}
