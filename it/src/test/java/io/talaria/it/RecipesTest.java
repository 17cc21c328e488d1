// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Mode;
import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.CountersReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What docs/recipes.md says, as it is written there. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RecipesTest {
  private static final int TRIES = 200;

  @RegisterExtension final Lab lab = new Lab();

  /** The value of a property in the section of a recipe. */
  private static String property(String section, String name) throws IOException {
    String page =
        Files.readString(Path.of(System.getProperty("talaria.test.root"), "docs", "recipes.md"));
    int start = page.indexOf("\n## " + section + "\n");
    assertThat(start).as(section).isNotNegative();
    int end = page.indexOf("\n## ", start + 1);
    Matcher line =
        Pattern.compile("JAVA_TOOL_OPTIONS[^`]*?-D" + Pattern.quote(name) + "=([^\\s\"]+)")
            .matcher(page.substring(start, end));
    assertThat(line.find()).as("%s in %s", name, section).isTrue();
    return line.group(1);
  }

  private static List<ConnectionInfo> connections(Path dir) throws IOException {
    return CountersReader.readDirectory(dir).processes().stream()
        .flatMap(process -> process.connections().stream())
        .filter(connection -> connection.role() != Role.LISTENER)
        .toList();
  }

  /** Runs the exchange until both ends of its connection are in shared memory. */
  private static void accelerated(Exchange exchange, Path dir) throws Exception {
    exchange.run();
    for (int i = 0; i < TRIES; i++) {
      List<ConnectionInfo> both = connections(dir);
      if (both.size() == 2 && both.stream().allMatch(c -> c.mode() == Mode.SHM)) {
        exchange.end();
        return;
      }
      exchange.again();
    }
    throw new AssertionError("not accelerated: " + connections(dir));
  }

  /** The directories of the unit, below one of this test's in place of the root. */
  @Test
  void servicesOfSystemdMeetInTheirRuntimeDirectory() throws Exception {
    Pair.BOTH.assume();
    String section = "A service of systemd";
    Path root = lab.shmDir().getParent();
    Path dir = Path.of(root + property(section, "talaria.dir"));
    Path memory = Path.of(root + property(section, "talaria.shm.dir"));
    Files.createDirectories(dir.getParent());
    Files.createDirectories(memory.getParent());
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.property("talaria.dir", dir).property("talaria.shm.dir", memory);
    }
    accelerated(exchange, dir);
  }

  /** Each container has its own /tmp, /dev/shm and process ids; they share the volume. */
  @Test
  void containersOfAPodMeetInTheirVolume() throws Exception {
    Pair.BOTH.assume();
    assumeTrue(Proc.root(), "not root: no container can be played");
    String section = "Two containers of one pod";
    String dir = property(section, "talaria.dir");
    Path volume = lab.shmDir().getParent();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.property("talaria.dir", dir)
          .property("talaria.shm.dir", property(section, "talaria.shm.dir"))
          .under(
              "unshare",
              "--mount",
              "--pid",
              "--fork",
              "--kill-child",
              "--mount-proc",
              "sh",
              "-c",
              "mount -t tmpfs tmpfs /mnt && mkdir /mnt/talaria"
                  + " && mount --bind \"$0\" /mnt/talaria"
                  + " && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /tmp"
                  + " && exec \"$@\"",
              volume.toString());
    }
    accelerated(exchange, volume.resolve(Path.of("/mnt/talaria").relativize(Path.of(dir))));
  }
}
