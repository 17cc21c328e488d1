// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.MessagingException.Code;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two nodes with two versions of the same records. */
@Timeout(120)
class EvolutionTest {
  private static final long LONG_NS = 60_000_000_000L;
  private static final int OLD = 1;
  private static final int NEW = 2;

  @TempDir Path directory;
  private final List<URLClassLoader> loaders = new ArrayList<>();
  private final BlockingQueue<String> got = new LinkedBlockingQueue<>();
  private Ground.Nodes nodes;

  @AfterEach
  void close() throws Exception {
    if (nodes != null) {
      nodes.close();
    }
    for (URLClassLoader each : loaders) {
      each.close();
    }
  }

  /** The records of a version, compiled. */
  private ClassLoader version(String name, String... records) throws Exception {
    Path sources = Files.createDirectories(directory.resolve(name));
    List<String> arguments = new ArrayList<>(List.of("-d", sources + "/classes"));
    for (String each : records) {
      String type = each.substring(0, each.indexOf('('));
      Path file = sources.resolve(type + ".java");
      Files.writeString(file, "package v;\npublic record " + each + " {}\n");
      arguments.add(file.toString());
    }
    StringWriter said = new StringWriter();
    PrintWriter out = new PrintWriter(said);
    int status =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(out, out, arguments.toArray(String[]::new));
    assertThat(status).as(said.toString()).isZero();
    URLClassLoader loader =
        new URLClassLoader(new URL[] {sources.resolve("classes").toUri().toURL()});
    loaders.add(loader);
    return loader;
  }

  private Node start(int id, ClassLoader version) throws Exception {
    NodeOptions options = nodes.options(id).sendLimit(Duration.ofSeconds(20));
    echo(options, version.loadClass("v.Price"));
    echo(options, version.loadClass("v.Odd"));
    return nodes.start(options);
  }

  private <T> void echo(NodeOptions options, Class<T> type) {
    Object unused =
        options
            .receive(type, (message, from) -> got.add(from.id() + " " + message))
            .answer(type, Dispatch.INLINE, (question, call) -> call.answer(question));
  }

  private static Object make(ClassLoader version, String type, Object... values) throws Exception {
    return version.loadClass(type).getConstructors()[0].newInstance(values);
  }

  private static String ask(Node node, int id, Object question) throws Exception {
    return node.peer(id).ask(question, question.getClass(), LONG_NS).toString();
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "STREAM"})
  void eachReadsWhatTheOtherWrites(Ground ground) throws Exception {
    ClassLoader before = version("before", "Price(int item, double value)", "Odd(String a)");
    ClassLoader after = version("after", "Price(String note, double value, long item)", "Odd(int a)");
    nodes = new Ground.Nodes(ground, directory);
    Node old = start(OLD, before);
    Node fresh = start(NEW, after);
    Object oldPrice = make(before, "v.Price", 7, 2.5);
    Object newPrice = make(after, "v.Price", "n", 3.5, 8L);
    // As a message, from who calls and from who is called.
    long ticket = old.peer(NEW).send(oldPrice);
    assertThat(old.peer(NEW).awaitTaken(ticket, LONG_NS)).isTrue();
    assertThat(got.poll(60, TimeUnit.SECONDS)).isEqualTo("1 Price[note=, value=2.5, item=7]");
    // The answer of the new one has a wider item: an old node cannot read it.
    assertThatThrownBy(() -> ask(old, NEW, oldPrice))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.TYPE_MISMATCH));
    ticket = fresh.peer(OLD).send(newPrice);
    assertThatThrownBy(() -> ask(fresh, OLD, newPrice))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.TYPE_MISMATCH))
        .hasMessageContaining(
            "v.Price: the type has other components there:"
                + " component item of v.Price is a int here, and a long there");
    assertThatThrownBy(() -> ask(old, NEW, make(before, "v.Odd", "x")))
        .hasMessageContaining("component a of v.Odd is a int here, and a String there");
    assertThat(got).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "STREAM"})
  void questionsAndAnswersGoBothWays(Ground ground) throws Exception {
    ClassLoader before = version("before", "Price(long item, double value)", "Odd(int a)");
    ClassLoader after = version("after", "Price(double value, long item, int[] more)", "Odd(int a)");
    nodes = new Ground.Nodes(ground, directory);
    Node old = start(OLD, before);
    Node fresh = start(NEW, after);
    for (long i = 0; i < 1000; i++) {
      assertThat(ask(old, NEW, make(before, "v.Price", i, 2.5)))
          .isEqualTo("Price[item=" + i + ", value=2.5]");
      assertThat(ask(fresh, OLD, make(after, "v.Price", 1.5, i, new int[9])))
          .startsWith("Price[value=1.5, item=" + i + ", more=");
    }
    assertThat(ask(old, NEW, make(before, "v.Odd", 5))).isEqualTo("Odd[a=5]");
    assertThat(old.counters().dropped() + fresh.counters().dropped()).isZero();
  }
}
