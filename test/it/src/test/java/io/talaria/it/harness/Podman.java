// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A bridge and a volume in memory that the container engine podman makes for one test, and
 * containers with both. They need no image: their files are this machine's. Needs root, podman and
 * runc; where these cannot run a container, the test is skipped. Confined to the test's thread.
 */
public final class Podman {
  private static final AtomicInteger MADE = new AtomicInteger();

  /** Without these it raises the limits, which root may not everywhere. */
  private static final List<String> LIMITS =
      List.of("--ulimit", "nofile=1024:4096", "--ulimit", "nproc=1024:4096");

  private final Lab lab;
  private final Path root;
  private final String name;

  private Podman(Lab lab, Path root, String name) {
    this.lab = lab;
    this.root = root;
    this.name = name;
  }

  /**
   * Makes the bridge and the volume, until the test is over.
   *
   * @param lab the test's
   * @param options of the mount of the volume, such as {@code uid=1000,mode=0755}
   * @return both, without containers
   * @throws Exception if a command fails
   */
  public static Podman make(Lab lab, String options) throws Exception {
    assumeTrue(Proc.root(), "not root: no bridge can be made");
    String name = "talaria-it-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
    Podman made = new Podman(lab, root(lab), name);
    try {
      Proc.run("podman", "network", "create", name);
      lab.afterwards(() -> Proc.run("podman", "network", "rm", "--force", name));
      List<String> probe = new ArrayList<>(List.of(made.container("probe")));
      probe.add("true");
      Proc.run(probe.toArray(String[]::new));
    } catch (IOException e) {
      abort("podman runs no container here: " + e.getMessage());
    }
    Proc.run(
        "podman",
        "volume",
        "create",
        "--opt=type=tmpfs",
        "--opt=device=tmpfs",
        "--opt=o=" + options,
        name);
    lab.afterwards(() -> Proc.run("podman", "volume", "rm", "--force", name));
    return made;
  }

  /** What containers have as root: where this machine's files are mounted. */
  private static Path root(Lab lab) throws IOException {
    Path root = Files.createDirectory(lab.scratch().resolve("root"));
    for (String each : List.of("usr", "etc", "proc", "sys", "dev", "tmp", "run", "mnt")) {
      Files.createDirectory(root.resolve(each));
    }
    for (String each : List.of("bin", "sbin", "lib", "lib64")) {
      Files.createSymbolicLink(root.resolve(each), Path.of("usr", each));
    }
    return root;
  }

  /**
   * The words that run a command in a new container on the bridge, with the JDK and the test's
   * directory where they are here.
   *
   * @param container a name for it, one for each
   * @param options more options of {@code podman run}
   * @return for {@link ChildSpec#under}
   */
  public String[] container(String container, String... options) {
    String made = name + "-" + container;
    lab.afterwards(() -> Proc.run("podman", "rm", "--force", "--ignore", made));
    List<String> words = new ArrayList<>(List.of("podman", "--runtime", "runc", "run", "--rm"));
    words.addAll(LIMITS);
    words.addAll(List.of("--interactive", "--network", name, "--name", made));
    for (Path each : List.of(Path.of("/usr"), Settings.ownJava().toAbsolutePath(), lab.scratch())) {
      words.addAll(List.of("--volume", each + ":" + each + ":ro"));
    }
    words.addAll(List.of(options));
    words.addAll(List.of("--rootfs", root.toString()));
    return words.toArray(String[]::new);
  }

  /**
   * An address of the bridge.
   *
   * @param number its last byte; 1 is the bridge's own
   * @return for the option {@code --ip}
   * @throws Exception if podman does not say
   */
  public String address(int number) throws Exception {
    String all = "{{range .Subnets}}{{.Subnet}}{{end}}";
    String subnet = Proc.run("podman", "network", "inspect", "--format", all, name).strip();
    return subnet.substring(0, subnet.lastIndexOf('.') + 1) + number;
  }

  /**
   * The option that mounts the volume.
   *
   * @param directory where
   * @return for {@link #container}
   */
  public String volume(String directory) {
    return "--volume=" + name + ":" + directory;
  }

  /**
   * Where the volume is on this machine, while a container has it.
   *
   * @return a directory
   * @throws Exception if podman does not say
   */
  public Path volume() throws Exception {
    String mounted = "{{.Mountpoint}}";
    return Path.of(Proc.run("podman", "volume", "inspect", "--format", mounted, name).strip());
  }
}
