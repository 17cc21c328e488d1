// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.handshake.Announcement;
import io.talaria.messaging.handshake.Fnv;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.handshake.NodeHandshake;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Two nodes with two versions of the same records. */
@Timeout(120)
class EvolutionTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int OLD = 1;
  private static final int NEW = 2;

  /** So many large records that their forms together are as long as may be. */
  private static final int MANY = 80;

  private static final int COMPONENTS = 40;

  private static final String WIDER = "component a of v.Price is a int here, and a long there";
  private static final String TEXT =
      "component a of v.Price is a java.lang.String here, and a int there";
  private static final String KIND = "component a of v.Price is a int here, and a String there";
  private static final String NULL = "component a of v.Price may be null there, and not here";
  private static final String NO_DEFAULT =
      "component b of v.Price is not there, and a Odd has no default: declare it @OptionalField or"
          + " Optional";

  /** A program's access to its records, which are in no module of ours. */
  private static final String ACCESS =
      """
      package v;
      import java.lang.invoke.MethodHandles;
      public final class Access {
        public static MethodHandles.Lookup lookup() {
          return MethodHandles.lookup();
        }
      }
      """;

  @TempDir Path directory;
  private final List<URLClassLoader> loaders = new ArrayList<>();
  private final BlockingQueue<String> got = new LinkedBlockingQueue<>();
  private Variant.Nodes nodes;

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
    String here =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> arguments =
        new ArrayList<>(List.of("-cp", here, "-d", sources.resolve("classes").toString()));
    Path access = sources.resolve("Access.java");
    Files.writeString(access, ACCESS);
    arguments.add(access.toString());
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
    Object lookup = version.loadClass("v.Access").getMethod("lookup").invoke(null);
    NodeOptions options =
        nodes.options(id).sendTimeout(Duration.ofSeconds(20)).lookup((MethodHandles.Lookup) lookup);
    echo(options, version.loadClass("v.Price"));
    echo(options, version.loadClass("v.Odd"));
    Node node = nodes.start(options);
    node.listen(
        new NodeListener() {
          @Override
          public void dropped(Peer peer, String type, String why) {
            got.add("dropped " + type + ": " + why);
          }
        });
    return node;
  }

  private <T> void echo(NodeOptions options, Class<T> type) {
    options
        .receive(type, (message, from) -> got.add(from.id() + " " + message))
        .handle(type, Dispatch.INLINE, (message, request) -> request.respond(message));
  }

  /** What two versions make of each other's messages; a value for each component. */
  static Stream<Arguments> changes() {
    return Stream.of(
        change("nothing", "int a", "int a", "a=3", "a=3"),
        change("added", "int a", "int a, String note, int[] more", "a=3, note=, more=[I@", "a=3"),
        change("removed", "long b, int a, String c", "int a", "a=3", "b=0, a=3, c="),
        change("widened", "int a, float b", "long a, double b", "a=3, b=3.0", WIDER),
        change("reordered", "int a, double b", "double b, int a", "b=3.0, a=3", "a=3, b=3.0"),
        change("renamed", "int a", "int b", "b=0", "a=0"),
        change("changed kind", "int a", "String a", TEXT, KIND),
        change("made a varint", "int a", "@io.talaria.messaging.Varint int a", "a=3", "a=3"),
        change("boxed", "int a", "Integer a", "a=3", "a=3"),
        change(
            "may be null", "String a", "@io.talaria.messaging.OptionalField String a", "a=3", NULL),
        change("nested", "Odd a", "int b, Odd a", "b=0, a=Odd[x=3]", "a=Odd[x=3]"),
        change("without default", "int a", "int a, Odd b", NO_DEFAULT, "a=3"));
  }

  private static Arguments change(
      String what, String before, String after, String readByNew, String readByOld) {
    return Arguments.of(what, before, after, readByNew, readByOld);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("changes")
  void aChangeIsReadOrRefusedByName(
      String what, String before, String after, String readByNew, String readByOld)
      throws Exception {
    ClassLoader older = version("before", "Price(" + before + ")", "Odd(int x)");
    ClassLoader newer = version("after", "Price(" + after + ")", "Odd(int x)");
    nodes = new Variant.Nodes(Variant.SHM, directory);
    Node old = start(OLD, older);
    Node fresh = start(NEW, newer);
    send(old, NEW, older);
    becomes(readByNew);
    send(fresh, OLD, newer);
    becomes(readByOld);
    // And what is the same goes on.
    assertThat(ask(old, NEW, make(older, "v.Odd", 5))).isEqualTo("Odd[x=5]");
    assertThat(ask(fresh, OLD, make(newer, "v.Odd", 6))).isEqualTo("Odd[x=6]");
  }

  private void send(Node from, int to, ClassLoader version) throws Exception {
    Constructor<?> constructor = version.loadClass("v.Price").getConstructors()[0];
    Object[] values = new Object[constructor.getParameterCount()];
    for (int i = 0; i < values.length; i++) {
      values[i] = three(constructor.getParameterTypes()[i], version);
    }
    long position = from.peer(to).send(constructor.newInstance(values));
    assertThat(from.peer(to).awaitDelivered(position, LONG)).isTrue();
  }

  private static Object three(Class<?> type, ClassLoader version) throws Exception {
    return switch (type.getSimpleName()) {
      case "int", "Integer" -> 3;
      case "long" -> 3L;
      case "float" -> 3f;
      case "double" -> 3d;
      case "String" -> "3";
      case "int[]" -> new int[] {3};
      default -> make(version, "v.Odd", 3);
    };
  }

  /** A component, or why it is none. */
  private void becomes(String expected) throws Exception {
    String came = got.poll(60, TimeUnit.SECONDS);
    if (expected.contains("=")) {
      assertThat(came).contains(" Price[" + expected);
    } else {
      assertThat(came).startsWith("dropped").contains("other components there").contains(expected);
    }
  }

  private static Object make(ClassLoader version, String type, Object... values) throws Exception {
    return version.loadClass(type).getConstructors()[0].newInstance(values);
  }

  private static String ask(Node node, int id, Object request) throws Exception {
    return node.peer(id).request(request, request.getClass(), LONG).toString();
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void eachReadsWhatTheOtherWrites(Variant variant) throws Exception {
    ClassLoader before = version("before", "Price(int item, double value)", "Odd(String a)");
    ClassLoader after =
        version("after", "Price(String note, double value, long item)", "Odd(int a)");
    nodes = new Variant.Nodes(variant, directory);
    Node old = start(OLD, before);
    Node fresh = start(NEW, after);
    Object oldPrice = make(before, "v.Price", 7, 2.5);
    Object newPrice = make(after, "v.Price", "n", 3.5, 8L);
    // As a message, from who calls and from who is called.
    long position = old.peer(NEW).send(oldPrice);
    assertThat(old.peer(NEW).awaitDelivered(position, LONG)).isTrue();
    assertThat(got.poll(60, TimeUnit.SECONDS)).isEqualTo("1 Price[note=, value=2.5, item=7]");
    // The response of the new one has a wider item: an old node cannot read it.
    assertThatThrownBy(() -> ask(old, NEW, oldPrice))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.TYPE_MISMATCH))
        .hasMessageContaining("component item of v.Price is a int here, and a long there");
    assertThat(fresh.peer(OLD).send(newPrice)).isPositive();
    assertThat(got.poll(60, TimeUnit.SECONDS))
        .startsWith("dropped v.Price: the type has other components there: component item of");
    assertThatThrownBy(() -> ask(fresh, OLD, newPrice))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.TYPE_MISMATCH))
        .hasMessageContaining(
            "v.Price: the type has other components there:"
                + " component item of v.Price is a int here, and a long there");
    assertThatThrownBy(() -> ask(old, NEW, make(before, "v.Odd", "x")))
        .hasMessageContaining("component a of v.Odd is a int here, and a String there");
    assertThat(got).allMatch(each -> each.startsWith("dropped ")); // the requests
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void requestsAndResponsesGoBothWays(Variant variant) throws Exception {
    ClassLoader before = version("before", "Price(long item, double value)", "Odd(int a)");
    ClassLoader after =
        version("after", "Price(double value, long item, int[] more)", "Odd(int a)");
    nodes = new Variant.Nodes(variant, directory);
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

  /** A record whose form has more than 3,000 characters. */
  private static String large(int number) {
    StringBuilder text = new StringBuilder("R").append(number).append('(');
    for (int i = 0; i < COMPONENTS; i++) {
      text.append(i == 0 ? "" : ", ").append("int c").append("x".repeat(75)).append(i);
    }
    return text.append(')').toString();
  }

  private Node startWithMany() throws Exception {
    List<String> records = new ArrayList<>(List.of("Price(int a)"));
    for (int i = 0; i < MANY; i++) {
      records.add(large(i));
    }
    ClassLoader many = version("many", records.toArray(String[]::new));
    Object lookup = many.loadClass("v.Access").getMethod("lookup").invoke(null);
    NodeOptions options =
        nodes
            .options(OLD)
            .transports(Transport.SHM, Transport.TCP)
            .lookup((MethodHandles.Lookup) lookup)
            .type(many.loadClass("v.Price"));
    for (int i = 0; i < MANY; i++) {
      options.type(many.loadClass("v.R" + i));
    }
    Node node = nodes.start(options);
    assertThat(node.peer(NEW).trySend(make(many, "v.Price", 3))).isEqualTo(Peer.CONNECTING);
    return node;
  }

  private static SocketChannel accept(Announcement from) throws Exception {
    SocketChannel channel = from.channel().accept();
    while (channel == null) {
      Thread.sleep(1);
      channel = from.channel().accept();
    }
    channel.configureBlocking(false);
    return channel;
  }

  private static ByteBuffer frame(NodeHandshake from) throws Exception {
    ByteBuffer frame = from.frame();
    while (frame == null) {
      if (!from.fill()) {
        Thread.sleep(1);
      }
      frame = from.frame();
    }
    return frame;
  }

  /** Accepts a HELLO by TCP, as a node with the same types that are all of another version. */
  private static ByteBuffer welcome(HandshakeMessage.Offer theirs) {
    HandshakeMessage.Offer own =
        new HandshakeMessage.Offer(
            theirs.pid(),
            theirs.maxMessageBytes(),
            theirs.dataRingBytes(),
            theirs.controlRingBytes(),
            theirs.names(),
            theirs.fingerprints().stream().map(each -> each ^ 2).toList());
    ByteBuffer network = ByteBuffer.allocate(0);
    HandshakeMessage.Forms none = HandshakeMessage.Forms.NONE;
    return new HandshakeMessage.Welcome(5, 1, HandshakeMessage.TCP, 0, own, network, none).frame();
  }

  private static boolean flushed(NodeHandshake bytes) {
    try {
      return bytes.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The last frame of the side that dials is longer than what a socket takes at once. */
  @Test
  void anotherSideThatReadsLateGetsAllForms() throws Exception {
    nodes = new Variant.Nodes(Variant.SHM, directory);
    Announcement there = new Announcement(directory.resolve("run"), Fnv.hash("test"), NEW);
    there.open();
    try {
      Node node = startWithMany();
      try (SocketChannel session = accept(there)) {
        NodeHandshake bytes = new NodeHandshake(session, false, null, false);
        ByteBuffer said = frame(bytes);
        assertThat(said.get()).isEqualTo(HandshakeMessage.HELLO);
        bytes.send(welcome(HandshakeMessage.Hello.of(said).offer()));
        Waits.await(() -> flushed(bytes));
        Thread.sleep(300); // meanwhile it cannot send all
        ByteBuffer ready = frame(bytes);
        assertThat(ready.get()).isEqualTo(HandshakeMessage.READY);
        assertThat(HandshakeMessage.forms(ready).byType()).hasSizeGreaterThan(MANY * 9 / 10);
        Waits.await(() -> node.peer(NEW).connected());
      }
    } finally {
      there.close();
    }
  }
}
