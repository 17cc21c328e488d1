// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a program sees that is started with the agent, on every JDK that is here. */
class AgentTest {
  private static final String PROVIDER_PROPERTY = "java.nio.channels.spi.SelectorProvider";
  private static final String TALARIA = "io.talaria.nio.TalariaProvider";
  private static final String JDK = "sun.nio.ch.EPollSelectorProvider";
  private static final String NETTY = "io.netty.transport.noNative";
  private static final String GRPC = "io.grpc.netty.shaded.io.netty.transport.noNative";
  private static final String START_LINE =
      "Talaria \\S+: NIO connections use shared memory on this host \\(pid \\d+\\)";

  private static final String ANOTHER_FIRST =
      "talaria: is disabled, channels of "
          + JDK
          + " were made before it was started, as by another agent: name talaria.jar before all"
          + " other agents";

  @TempDir Path work;

  static List<String> javas() {
    return Child.javas();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void setsTheProviderAndPrintsOneLine(String java) throws Exception {
    Child child = Child.withAgent(java, List.of());
    assertThat(child.out()).containsExactly(TALARIA);
    assertThat(child.err()).singleElement().asString().matches(START_LINE);
    assertThat(child.status()).isZero();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void isTheSameOnTheBootClassPath(String java) throws Exception {
    for (String transports : List.of("shm", "ucx,shm")) {
      Child child =
          Child.run(
              java,
              List.of(
                  "-Xbootclasspath/a:" + Child.AGENT,
                  "-javaagent:" + Child.AGENT,
                  option("talaria.transports", transports)),
              Map.of(),
              ReasonsMain.class,
              "same-host",
              "true");
      assertThat(child.out())
          .containsExactlyInAnyOrder(
              "listener announced", "client same-host", "accepted same-host");
      assertThat(child.err()).singleElement().asString().contains("NIO connections use ");
    }
  }

  @Test
  void namesTheTransportsThatAreAskedFor() throws Exception {
    String java =
        ChildProcess.jdkProgram("java"); // it must load UCX to know whether it can be used
    Child alone = Child.withAgent(java, List.of(option("talaria.transports", "ucx")));
    assertThat(alone.err())
        .singleElement()
        .asString()
        .contains("connections use UCX, or else TCP on this host");
    Child child = Child.withAgent(java, List.of(option("talaria.transports", "ucx,shm")));
    assertThat(child.out()).containsExactly(TALARIA);
    assertThat(child.err())
        .singleElement()
        .asString()
        .contains("connections use UCX")
        .contains(", or else shared memory on this host");
  }

  /** What Java 17 needs for UCX can be told at once; no second line says otherwise. */
  @ParameterizedTest
  @MethodSource("javas")
  void saysInOneLineThatUcxCannotBeUsed(String java) throws Exception {
    assumeFalse(
        java.equals(ChildProcess.jdkProgram("java")), "newer ones need to load UCX to know");
    for (String transports : List.of("ucx", "ucx,shm")) {
      boolean alone = transports.equals("ucx");
      Child child =
          Child.run(
              java,
              List.of("-javaagent:" + Child.AGENT, option("talaria.transports", transports)),
              Map.of(),
              ReasonsMain.class,
              alone ? "no-ucx" : "same-host",
              Boolean.toString(!alone));
      assertThat(child.err())
          .singleElement()
          .asString()
          .matches(
              "Talaria \\S+: NIO connections "
                  + (alone ? "stay on TCP" : "use shared memory")
                  + " on this host \\(pid \\d+\\); UCX cannot be used: JUCX is not there\\..*");
      if (alone) {
        assertThat(child.out())
            .containsExactlyInAnyOrder("listener no-ucx", "client no-ucx", "accepted no-ucx");
      }
    }
  }

  /** Without loading it, whether UCX is there can be told; that it is not there, is. */
  @Test
  void saysInOneLineThatUcxIsNotThere() throws Exception {
    String file = work.resolve("libucp.so.0").toString();
    Child child =
        Child.run(
            ChildProcess.jdkProgram("java"),
            List.of(
                "-javaagent:" + Child.AGENT,
                option("talaria.transports", "ucx"),
                option("talaria.ucx.library", file)),
            Map.of(),
            ReasonsMain.class,
            "no-ucx",
            "false");
    assertThat(child.err())
        .singleElement()
        .asString()
        .matches(
            "Talaria \\S+: NIO connections stay on TCP on this host \\(pid \\d+\\); UCX cannot be"
                + " used: UCX \\("
                + Pattern.quote(file)
                + ", from the property talaria.ucx.library\\) is not a file\\..*");
    assertThat(child.out())
        .containsExactlyInAnyOrder("listener no-ucx", "client no-ucx", "accepted no-ucx");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void stopsTheStartOnOptionsOfTheAgent(String java) throws Exception {
    Child child = Child.run(java, List.of("-javaagent:" + Child.AGENT + "=quiet=true"), Map.of());
    assertThat(child.status()).isEqualTo(78);
    assertThat(child.out()).isEmpty();
    assertThat(child.err())
        .containsExactly(
            "talaria: the agent has no options, but was given 'quiet=true': set system properties"
                + " instead, such as -Dtalaria.quiet=true");
    Child none = Child.run(java, List.of("-javaagent:" + Child.AGENT + "="), Map.of());
    assertThat(none.out()).containsExactly(TALARIA);
    assertThat(none.err()).singleElement().asString().matches(START_LINE);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void worksThroughTheEnvironment(String java) throws Exception {
    Child child =
        Child.run(java, List.of(), Map.of("JAVA_TOOL_OPTIONS", "-javaagent:" + Child.AGENT));
    assertThat(child.out()).containsExactly(TALARIA);
    assertThat(child.err()).hasSize(2);
    assertThat(child.err().get(0)).startsWith("Picked up JAVA_TOOL_OPTIONS");
    assertThat(child.err().get(1)).matches(START_LINE);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void keepsTheProviderOfTheUser(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(option(PROVIDER_PROPERTY, JDK)), NETTY);
    assertThat(child.out()).containsExactly(JDK, NETTY + "=null");
    assertThat(child.err())
        .containsExactly(
            "talaria: is disabled, " + PROVIDER_PROPERTY + " is already set to " + JDK);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void acceptsItsOwnProviderAsTheUsersChoice(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(option(PROVIDER_PROPERTY, TALARIA)));
    assertThat(child.out()).containsExactly(TALARIA);
    assertThat(child.err()).singleElement().asString().matches(START_LINE);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void changesNothingIfAnotherAgentHasMadeAChannel(String java) throws Exception {
    List<String> agents = List.of("-javaagent:" + earlyAgent(), "-javaagent:" + Child.AGENT);
    Child child = Child.run(java, agents, Map.of(), NETTY, GRPC, PROVIDER_PROPERTY);
    assertThat(child.out())
        .containsExactly(JDK, NETTY + "=null", GRPC + "=null", PROVIDER_PROPERTY + "=null");
    assertThat(child.err()).containsExactly(ANOTHER_FIRST);
    assertThat(child.status()).isZero();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void leavesSocketsAloneIfAnotherAgentHasMadeAChannel(String java) throws Exception {
    Child child =
        Child.run(
            java,
            List.of(
                "-javaagent:" + earlyAgent(),
                "-javaagent:" + Child.AGENT,
                option("talaria.sockets", "true")),
            Map.of(),
            SocketMain.class);
    assertThat(child.out()).containsExactly("read 7");
    assertThat(child.err()).containsExactly(ANOTHER_FIRST);
    assertThat(child.status()).isZero();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void isSwitchedOnBeforeAnotherAgentThatMakesAChannel(String java) throws Exception {
    List<String> agents = List.of("-javaagent:" + Child.AGENT, "-javaagent:" + earlyAgent());
    Child child = Child.run(java, agents, Map.of(), NETTY);
    assertThat(child.out()).containsExactly(TALARIA, NETTY + "=true");
    assertThat(child.err()).singleElement().asString().matches(START_LINE);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void isSwitchedOnOnceIfItIsNamedTwice(String java) throws Exception {
    Child child =
        Child.run(
            java,
            List.of(
                "-javaagent:" + Child.AGENT,
                "-javaagent:" + Child.AGENT,
                option("talaria.sockets", "true")),
            Map.of());
    assertThat(child.out()).containsExactly(TALARIA);
    assertThat(child.err()).singleElement().asString().matches(START_LINE);
    assertThat(child.status()).isZero();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void aProgramMayInstallTheSocketsAsWell(String java) throws Exception {
    List<String> options = List.of("-javaagent:" + Child.AGENT, option("talaria.sockets", "true"));
    Child child = Child.run(java, options, Map.of(), InstallMain.class);
    assertThat(child.out()).containsExactly("read 7");
    assertThat(child.status()).isZero();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void isOffAndSilentWhenDisabled(String java) throws Exception {
    Child child =
        Child.withAgent(java, List.of(option("talaria.enabled", "false")), PROVIDER_PROPERTY);
    assertThat(child.out()).containsExactly(JDK, PROVIDER_PROPERTY + "=null");
    assertThat(child.err()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void isSilentWhenQuiet(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(option("talaria.quiet", "true")));
    assertThat(child.out()).containsExactly(TALARIA);
    assertThat(child.err()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void stopsTheStartOnBadValue(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(option("talaria.spin.ns", "soon")));
    assertThat(child.status()).isEqualTo(78);
    assertThat(child.out()).isEmpty();
    assertThat(child.err())
        .singleElement()
        .asString()
        .startsWith("talaria: ")
        .contains("talaria.spin.ns", "soon", "from 0 to ");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void stopsTheStartOnAJucxThatIsNone(String java) throws Exception {
    Path file = Files.writeString(work.resolve("jucx.jar"), "no jar");
    Child child = Child.withAgent(java, List.of(option("talaria.jucx", file.toString())));
    assertThat(child.status()).isEqualTo(Activation.BAD_CONFIGURATION);
    assertThat(child.out()).isEmpty();
    assertThat(child.err())
        .containsExactly(
            "talaria: property talaria.jucx is '"
                + file
                + "', it must be the jar of JUCX (org.openucx:jucx from 1.15.0 on), or none");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void stopsTheStartOnBadValueOfEnabled(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(option("talaria.enabled", "maybe")));
    assertThat(child.status()).isEqualTo(78);
    assertThat(child.err())
        .singleElement()
        .asString()
        .contains("talaria.enabled", "maybe", "true or false");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void steersNettyToNio(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(), NETTY, GRPC);
    assertThat(child.out()).containsExactly(TALARIA, NETTY + "=true", GRPC + "=true");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void keepsWhatTheUserToldNetty(String java) throws Exception {
    Child child = Child.withAgent(java, List.of(option(NETTY, "false")), NETTY, GRPC);
    assertThat(child.out()).containsExactly(TALARIA, NETTY + "=false", GRPC + "=true");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void startsNeitherLoggingNorCryptography(String java) throws Exception {
    Path loaded = work.resolve("loaded");
    Child child = Child.withAgent(java, List.of("-Xlog:class+load:file=" + loaded, "-version"));
    assertThat(child.status()).isZero();
    assertThat(Files.readString(loaded))
        .contains("io.talaria.agent.Activation ")
        .doesNotContain("java.util.logging.LogManager ")
        .doesNotContain("java.lang.System$Logger ")
        .doesNotContain("sun.security.jca.Providers ")
        .doesNotContain("io.talaria.nio.TalariaProvider$")
        .doesNotContain("java.nio.channels.spi.SelectorProvider$Holder ");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void promisesNothingWhereADirectoryCannotBeMade(String java) throws Exception {
    Path missing = work.resolve("missing/run");
    for (String property : List.of("talaria.dir", "talaria.shm.dir")) {
      Child child = Child.withAgent(java, List.of(option(property, missing.toString())));
      assertThat(child.out()).containsExactly(TALARIA);
      assertThat(
              child.err()) // the transport's warning may follow, if the program lives long enough
          .filteredOn(line -> line.startsWith("talaria:"))
          .containsExactly(
              "talaria: NIO connections stay on TCP: "
                  + property
                  + "="
                  + missing
                  + " cannot be made as long as "
                  + missing.getParent()
                  + " is no directory");
    }
  }

  @ParameterizedTest
  @MethodSource("javas")
  void saysThatSharedMemoryIsOnADisk(String java) throws Exception {
    Path disk = Path.of(System.getProperty("user.dir")).resolve("target");
    String type = Files.getFileStore(disk).type();
    assumeFalse(type.equals("tmpfs"), "the build's directory is in memory");
    Child child =
        Child.withAgent(java, List.of(option("talaria.shm.dir", disk.resolve("shm").toString())));
    assertThat(child.err())
        .hasSize(2)
        .first()
        .asString()
        .contains("talaria.shm.dir=" + disk.resolve("shm") + " is on " + type, "on a tmpfs");
    assertThat(disk.resolve("shm")).doesNotExist();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void isSeenFromOutsideBeforeTheProgramMakesAChannel(String java) throws Exception {
    Path run = work.resolve("run");
    Child child =
        Child.withAgent(java, List.of(option("talaria.dir", run.toString())), run.toString());
    assertThat(child.out()).hasSize(3);
    assertThat(child.out().get(0)).matches("\\d+-\\d+\\.counters");
    assertThat(child.out().get(1)).isEqualTo(TALARIA);
    assertThat(child.out().get(2)).isEqualTo(child.out().get(0));
    assertThat(run).isEmptyDirectory(); // it goes with the process
  }

  /** The jar of {@link EarlyAgent}, whose class is on the class path. */
  private Path earlyAgent() throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", EarlyAgent.class.getName());
    Path jar = work.resolve("early.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.finish();
    }
    return jar;
  }

  private static String option(String name, String value) {
    return "-D" + name + "=" + value;
  }
}
