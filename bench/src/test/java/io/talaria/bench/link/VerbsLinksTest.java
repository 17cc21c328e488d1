// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import io.talaria.verbs.Verbs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Both sides of the bindings of verbs in one JVM, on the provider in memory that the tests of verbs
 * have: nothing that is measured here would mean anything, but each pattern comes to its end.
 */
@Timeout(300)
class VerbsLinksTest {
  private static final String SOURCE = "verbs/src/test/c/loopback.c";
  private static final int MESSAGES = 500;

  @BeforeAll
  static void build() throws Exception {
    Path source = Path.of(SOURCE);
    if (!Files.exists(source)) {
      source = Path.of("..").resolve(SOURCE);
    }
    Path library = Files.createTempDirectory("talaria-verbs-links").resolve("libloopback.so");
    Process gcc =
        new ProcessBuilder(
                "gcc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean built = gcc.waitFor(120, TimeUnit.SECONDS) && gcc.exitValue() == 0;
    assumeTrue(built, () -> "gcc or libibverbs-dev and librdmacm-dev are missing: " + said);
    System.setProperty(Verbs.LIBRARY_PROPERTY, library.toString());
    System.setProperty(Verbs.CM_LIBRARY_PROPERTY, library.toString());
    library.toFile().deleteOnExit();
    library.getParent().toFile().deleteOnExit();
  }

  @ParameterizedTest
  @CsvSource({
    "VERBS_MESSAGE, 16, 65536",
    "VERBS_WRITE, 16, 65536",
    "VERBS_READ, 16, 65536",
    "VERBS_NET, 16, 4096",
    "VERBS_NET, 16, 262144"
  })
  void everyPatternThatItCanDoComesToItsEnd(BindingKind kind, int small, int large)
      throws Exception {
    assertThat(Bindings.load(kind)).isEmpty();
    Binding.Setup setup = new Binding.Setup("127.0.0.1", large, 1, 0, "");
    try (ExecutorService serverThread = Executors.newSingleThreadExecutor();
        ExecutorService clientThread = Executors.newSingleThreadExecutor()) {
      Binding server = Bindings.create(kind, setup);
      Binding client = Bindings.create(kind, setup);
      String offer = serverThread.submit(server::offer).get();
      String answer = clientThread.submit(() -> client.answer(offer)).get();
      serverThread.submit(() -> accept(server, answer)).get();
      for (int size : new int[] {small, large, small}) {
        for (Pattern pattern : Pattern.values()) {
          if (kind.supports(pattern)) {
            serverThread.submit(() -> server.link().prepare(size)).get();
            clientThread.submit(() -> client.link().prepare(size)).get();
            AtomicBoolean ended = new AtomicBoolean();
            Future<?> follows = serverThread.submit(() -> follow(server.link(), pattern, ended));
            clientThread.submit(() -> lead(client.link(), pattern)).get();
            ended.set(true);
            follows.get();
          }
        }
      }
      // At once, as in an observation: what a node does when it closes needs no help of the other.
      Future<?> closes = serverThread.submit(() -> close(server));
      clientThread.submit(() -> close(client)).get();
      closes.get();
    }
  }

  private static Void accept(Binding server, String answer) throws IOException {
    server.accept(answer);
    return null;
  }

  private static Void close(Binding binding) throws IOException {
    binding.link().close();
    binding.close();
    return null;
  }

  private static Void lead(Link link, Pattern pattern) throws IOException {
    switch (pattern) {
      case THROUGHPUT -> {
        if (link.oneSided()) {
          access(link, false);
        } else {
          link.sendAll(MESSAGES);
          link.receive();
        }
      }
      case BIDIRECTIONAL, ALL_TO_ALL -> link.both(MESSAGES);
      case PINGPONG -> link.pingPong(MESSAGES, new Laps(0));
      case ACCESS -> access(link, true);
    }
    return null;
  }

  private static void access(Link link, boolean each) throws IOException {
    for (int i = 0; i < MESSAGES; i++) {
      link.access();
      if (each) {
        link.complete();
      }
    }
    link.complete();
  }

  private static Void follow(Link link, Pattern pattern, AtomicBoolean ended) throws IOException {
    switch (pattern) {
      case THROUGHPUT -> {
        if (link.oneSided()) {
          link.idle(ended::get);
        } else {
          link.receiveAll(MESSAGES);
          link.sendAll(1);
        }
      }
      case BIDIRECTIONAL, ALL_TO_ALL -> link.both(MESSAGES);
      case PINGPONG -> link.echo(MESSAGES);
      case ACCESS -> link.idle(ended::get);
    }
    return null;
  }
}
