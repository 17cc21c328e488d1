// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Survivor;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A process killed in mid-transfer leaves its peer, within a second, with the end or the exception
 * that TCP gives, and leaves no file, descriptor or mapping behind.
 */
@Tag("transport")
@Tag("alone")
class KillTest {
  private static final int SETTLED = 2;
  private static final int ODD_DESCRIPTORS = 2;
  private static final int POOLED_MAPPINGS = 4;

  /** A reader and a writer, of a connection that ends and of the next one. */
  private static final int MAX_ASLEEP = 4;

  /** On UCX only that all ends well is tested, and that nothing hangs. */
  private static final int ROUNDS_ON_UCX = 3;

  private static final Duration NOTICE_ON_UCX = Duration.ofSeconds(20);

  @RegisterExtension final Lab lab = new Lab();

  private final Random chance = new Random(1);

  static Stream<Arguments> cases() {
    return Stream.of("blocking", "selector")
        .flatMap(
            io ->
                Stream.of("client", "server")
                    .flatMap(
                        victim ->
                            Stream.of(
                                    Arguments.of(Flavour.PLAIN, io, victim, 3),
                                    Arguments.of(Flavour.TALARIA, io, victim, 25),
                                    Arguments.of(Flavour.TALARIA_17, io, victim, 5))
                                .skip(Settings.fewPairs() ? 1 : 0)));
  }

  @ParameterizedTest(name = "{0}, {1}, the {2} is killed {3} times")
  @MethodSource("cases")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void survivorNoticesAndTidiesUp(Flavour flavour, String io, String victimRole, int usual)
      throws Exception {
    flavour.assume();
    boolean killsServer = victimRole.equals("server");
    boolean ucx = Settings.fast() == NioTransport.UCX;
    assumeTrue(!ucx || flavour.accelerated(), "there is no UCX in it");
    int rounds = (int) Math.max(SETTLED, Settings.scaled(ucx ? ROUNDS_ON_UCX : usual));
    Child survivor = program(flavour, io, killsServer ? "client" : "server").start();
    int port = killsServer ? 0 : survivor.await("listening").port();
    Child next = program(flavour, io, victimRole).start();
    int descriptors = 0;
    int mappings = 0;
    for (int round = 0; round < rounds; round++) {
      Child victim = next;
      if (killsServer) {
        survivor.send("connect " + victim.await("listening").port());
      } else {
        victim.send("connect " + port);
      }
      survivor.await("opened");
      letThemRun(flavour, survivor, round);
      long killedNs = System.nanoTime();
      victim.kill();
      Event ended = survivor.await("ended");
      if (round + 1 < rounds) { // only now: its start takes both cores
        next = program(flavour, io, victimRole).start();
      }
      assertThat(Duration.ofNanos(ended.number("ns") - killedNs))
          .as("round %d: time until the survivor noticed, %s", round, ended)
          .isLessThan(ucx ? NOTICE_ON_UCX : Lab.NOTICE);
      assertEndsAsOnTcp(ended);
      if (round == SETTLED - 1) {
        Proc.collectGarbage(survivor);
        descriptors = Proc.descriptorsButDoorbells(survivor);
        mappings = Proc.mappings(survivor, lab.shmDir());
      }
    }
    Proc.collectGarbage(survivor);
    awaitAtMost(
        "descriptors", descriptors + ODD_DESCRIPTORS, () -> Proc.descriptorsButDoorbells(survivor));
    awaitAtMost("doorbells of threads", MAX_ASLEEP, () -> Proc.doorbellsOfThreads(survivor));
    awaitAtMost(
        "mappings of shared memory",
        mappings + POOLED_MAPPINGS,
        () -> Proc.mappings(survivor, lab.shmDir()));
    if (flavour.accelerated()) {
      awaitAtMost("files in shared memory", 0, () -> files(lab.shmDir()));
    }
    lab.stop(survivor);
  }

  private ChildSpec program(Flavour flavour, String io, String role) {
    return lab.child(flavour, Survivor.class)
        .arg("role", role)
        .arg("io", io)
        .arg("min", 1L << 40)
        .arg("max", 1L << 40);
  }

  /** Every other kill waits until the connection is accelerated; the others come anywhere. */
  private void letThemRun(Flavour flavour, Child survivor, int round) throws Exception {
    if (flavour.accelerated() && round % 2 == 0) {
      Transports.await(survivor, Settings.fast(), Reason.SAME_HOST);
    }
    LockSupport.parkNanos(chance.nextInt(20_000_000));
  }

  private static void assertEndsAsOnTcp(Event ended) {
    assertThat(ended.text("in"))
        .as("%s", ended)
        .matches("eof|(SocketException|IOException):Connection_reset(_by_peer)?");
    assertThat(ended.text("out"))
        .as("%s", ended)
        .matches("(SocketException|IOException):(Broken_pipe|Connection_reset(_by_peer)?)");
  }

  private interface Count {
    int get() throws IOException;
  }

  private static void awaitAtMost(String what, int limit, Count count)
      throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(5).toNanos();
    while (count.get() > limit && System.nanoTime() < deadlineNs) {
      Thread.sleep(20);
    }
    assertThat(count.get()).as(what).isLessThanOrEqualTo(limit);
  }

  private static int files(Path dir) throws IOException {
    if (!Files.isDirectory(dir)) {
      return 0;
    }
    try (Stream<Path> files = Files.list(dir)) {
      List<Path> all = files.toList();
      return all.size();
    }
  }
}
