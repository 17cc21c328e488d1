// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.TalariaProvider;
import io.talaria.testsupport.ChildProcess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** A JVM that connects to itself and is short of something; it says what its connection shows. */
final class ScarceProcess {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final long HEADROOM_BYTES = 80L << 20;

  private ScarceProcess() {}

  /** One that may not make a file as large as the rings: what a full file system is like. */
  static Reason withoutSpace(Path dir) throws Exception {
    return run(dir, new String[] {"sh", "-c", "ulimit -f 16 && exec \"$@\"", "sh"}, "32768", "");
  }

  /** One that has no room in its address space for rings of 64 MiB. */
  static Reason withoutAddresses(Path dir) throws Exception {
    return run(dir, new String[0], "67108864", "limit");
  }

  private static Reason run(Path dir, String[] under, String ringBytes, String argument)
      throws Exception {
    ChildProcess child =
        ChildProcess.jvm(ScarceProcess.class, argument)
            .under(under)
            .options(
                "-Xms64m",
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData", // it is a file
                "-XX:ErrorFile=" + dir.resolve("crash.log"),
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Dtalaria.dir=" + dir.resolve("child"),
                "-Dtalaria.shm.dir=" + dir.resolve("child-shm"),
                "-Dtalaria.shm.ring.initial=" + ringBytes)
            .run(LIMIT);
    return child.out().stream()
        .map(Reason::ofCode)
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow(() -> new AssertionError(child.toString()));
  }

  /** Connects to itself and prints the reason that is shown in the end. */
  public static void main(String[] args) throws Exception {
    SelectorProvider provider = new TalariaProvider();
    try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      await(Role.LISTENER, Reason.PENDING);
      if (args[0].equals("limit")) {
        limitAddresses();
      }
      SocketChannel client = provider.openSocketChannel();
      client.connect(listener.getLocalAddress());
      SocketChannel server = listener.accept();
      System.out.println(await(Role.CLIENT, Reason.PENDING).code());
      client.close();
      server.close();
    }
  }

  private static Reason await(Role role, Reason other) throws InterruptedException {
    while (true) {
      for (ConnectionInfo info : Connections.snapshot()) {
        if (info.role() == role && info.reason() != other) {
          return info.reason();
        }
      }
      Thread.sleep(1);
    }
  }

  /** Leaves the process little more than it has. */
  private static void limitAddresses() throws Exception {
    String size =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("VmSize:"))
            .map(line -> line.replaceAll("[^0-9]", ""))
            .findFirst()
            .orElseThrow();
    long bytes = (Long.parseLong(size) << 10) + HEADROOM_BYTES;
    // Without threads that read its output: their stacks and arenas take addresses too.
    Process prlimit =
        new ProcessBuilder(
                "prlimit", "--pid", Long.toString(ProcessHandle.current().pid()), "--as=" + bytes)
            .inheritIO()
            .start();
    assertThat(prlimit.waitFor()).isZero();
  }
}
