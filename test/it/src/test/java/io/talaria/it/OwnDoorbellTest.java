// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Chatter;
import io.talaria.it.programs.SelectTimes;
import io.talaria.nio.NioTransport;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A sleeping selector, or a thread in a blocking read, of another process is woken through a pipe
 * of its own, which the peer has opened; and over TCP where the peer cannot.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class OwnDoorbellTest {
  private static final List<String> OTHER_PIDS = List.of("unshare", "--pid", "--fork");
  private static final int MESSAGES = 2000;

  @RegisterExtension final Lab lab = new Lab();

  private Child ringer;
  private Child sleeper;

  static List<Pair> pairs() {
    return List.of(
        Pair.BOTH,
        new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17),
        new Pair(Flavour.TALARIA, Flavour.TALARIA_17));
  }

  private void connect(Pair pair, Class<?> sleeps, String... under) throws Exception {
    pair.assume();
    assumeTrue(Settings.fast() == NioTransport.SHM, "doorbells are for shared memory");
    ringer =
        lab.child(pair.server(), Chatter.class)
            .property("talaria.spin.ns", 0)
            .arg("role", "server")
            .start();
    ChildSpec spec =
        lab.child(pair.client(), sleeps)
            .property("talaria.spin.ns", 0)
            .arg("port", ringer.await("listening").port());
    sleeper = (under.length == 0 ? spec : spec.under(under)).start();
    sleeper.await("connected");
    ringer.await("accepted");
    if (under.length == 0) {
      Transports.use(pair, ringer, sleeper, "greet", "greeted");
    } else {
      useUntilRingerIsAccelerated();
    }
    ringer.send("go");
    sleeper.send("go");
  }

  /** The sleeper does not know the process id by which its counters could be found. */
  private void useUntilRingerIsAccelerated() throws Exception {
    long deadlineNs = System.nanoTime() + Child.PATIENCE.toNanos();
    do {
      assertThat(System.nanoTime() - deadlineNs).as("late; still on TCP").isNegative();
      ringer.send("greet");
      sleeper.send("greet");
      ringer.await("greeted");
      sleeper.await("greeted");
    } while (Transports.of(ringer).stream().noneMatch(c -> c.transport() == NioTransport.SHM));
  }

  private void chat() throws Exception {
    sleeper.send("hear " + MESSAGES);
    ringer.send("chat " + MESSAGES);
    ringer.await("chatted");
    assertThat(sleeper.await("heard").number("empty")).as("empty returns").isZero();
  }

  /** The same, to a thread in blocking reads. */
  private void chatToReader() throws Exception {
    sleeper.send("drain " + MESSAGES);
    ringer.send("chat " + MESSAGES);
    ringer.await("chatted");
    sleeper.await("drained");
  }

  private void awaitCommonPipe() throws Exception {
    long deadlineNs = System.nanoTime() + Child.PATIENCE.toNanos();
    while (commonPipes(ringer, sleeper).isEmpty()) {
      assertThat(System.nanoTime() - deadlineNs).as("late; no pipe is open in both").isNegative();
      Thread.sleep(10);
    }
  }

  /** The pipes that both processes have open. */
  private static Set<String> commonPipes(Child one, Child other) throws IOException {
    Set<String> common = pipes(one.pid());
    common.retainAll(pipes(other.pid()));
    return common;
  }

  private static Set<String> pipes(long pid) throws IOException {
    Set<String> pipes = new HashSet<>();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
      for (Path each : open) {
        try {
          String link = Files.readSymbolicLink(each).toString();
          if (link.startsWith("pipe:")) {
            pipes.add(link);
          }
        } catch (NoSuchFileException e) {
          // It has been closed meanwhile.
        }
      }
    }
    return pipes;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void thePeerOpensItAndRingsIt(Pair pair) throws Exception {
    connect(pair, SelectTimes.class);
    chat();
    awaitCommonPipe();
    chat();
    lab.stop(sleeper, ringer);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void thePeerOpensThatOfAThreadAndRingsIt(Pair pair) throws Exception {
    connect(pair, Chatter.class);
    chatToReader();
    awaitCommonPipe();
    chatToReader();
    lab.stop(sleeper, ringer);
  }

  /** Process ids of the sleeper's namespace mean others, or nobody, to the ringer. */
  @Test
  void aSleeperInAnotherPidNamespaceIsWokenOverTcp() throws Exception {
    assumeTrue(mayUnshare(), "needs the right to make a pid namespace");
    connect(Pair.BOTH, SelectTimes.class, OTHER_PIDS.toArray(String[]::new));
    chat();
    chat();
    lab.stop(sleeper, ringer);
  }

  @Test
  void aReaderInAnotherPidNamespaceIsWokenOverTcp() throws Exception {
    assumeTrue(mayUnshare(), "needs the right to make a pid namespace");
    connect(Pair.BOTH, Chatter.class, OTHER_PIDS.toArray(String[]::new));
    chatToReader();
    chatToReader();
    lab.stop(sleeper, ringer);
  }

  /** As of a process with a capability that its peer lacks. */
  @Test
  void aReaderWhoseDescriptorsThePeerMayNotSeeIsWokenOverTcp() throws Exception {
    assumeTrue(mayUnshare(), "needs the right to make a mount namespace");
    assumeTrue(Settings.fast() == NioTransport.SHM, "doorbells are for shared memory");
    sleeper =
        lab.child(Flavour.TALARIA, Chatter.class)
            .property("talaria.spin.ns", 0)
            .arg("role", "server")
            .start();
    int port = sleeper.await("listening").port();
    String closed = "mount -t tmpfs none /proc/" + sleeper.pid() + "/fd && exec \"$@\"";
    ringer =
        lab.child(Flavour.TALARIA, Chatter.class)
            .property("talaria.spin.ns", 0)
            .arg("port", port)
            .under("unshare", "--mount", "sh", "-c", closed, "sh")
            .start();
    sleeper.await("accepted");
    ringer.await("connected");
    Transports.use(Pair.BOTH, sleeper, ringer, "greet", "greeted");
    ringer.send("go");
    sleeper.send("go");
    chatToReader();
    chatToReader();
    lab.stop(sleeper, ringer);
  }

  private static boolean mayUnshare() throws Exception {
    try {
      return ChildProcess.command("unshare", "--pid", "--fork", "true")
              .run(Duration.ofSeconds(20))
              .exitStatus()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
