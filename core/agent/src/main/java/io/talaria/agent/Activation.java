// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.TalariaSockets;
import io.talaria.nio.config.Config;
import io.talaria.nio.counters.StartFile;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.privileged.Privileged;
import io.talaria.nio.process.Host;
import io.talaria.nio.process.PeerCredentials;
import io.talaria.nio.transport.ToldProblems;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.jar.JarFile;

/**
 * Switches Talaria on in this JVM: checks the configuration, opens what the provider needs of the
 * JDK, and names the provider in the system property that {@link SelectorProvider} reads when the
 * program makes its first channel.
 *
 * <p>{@link TalariaAgent} loads it by name, because it needs Java 17, and it registers itself. It
 * prints to the standard error stream only and starts neither logging nor JCA: the program may want
 * to configure both.
 */
final class Activation implements TalariaAgent.Activator {
  /** Exit status of a JVM whose start was stopped by a bad property: EX_CONFIG of sysexits.h. */
  static final int BAD_CONFIGURATION = 78;

  private static final String PROVIDER_PROPERTY = "java.nio.channels.spi.SelectorProvider";
  private static final String PROVIDER = "io.talaria.nio.TalariaProvider";

  /** The JDK's holder of the provider: loaded, if not before, when the JVM chooses one. */
  private static final String HOLDER = "java.nio.channels.spi.SelectorProvider$Holder";

  /** The transport that calls native code. */
  private static final String UCX = "ucx";

  private static final String UCX_TRANSPORTS = "io.talaria.nio.ucx.Transports";

  /** From here on the transport calls UCX without JUCX. */
  private static final int FFM_JAVA = 25;

  private static final String JUCX_CLASS = "org/openucx/jucx/ucp/UcpContext.class";

  /**
   * What makes Netty take NIO instead of its native transports, under Netty's name and under the
   * one that gRPC gives it.
   */
  private static final String[] NETTY_PROPERTIES = {
    "io.netty.transport.noNative", "io.grpc.netty.shaded.io.netty.transport.noNative",
  };

  /** What makes the JDK's sockets use a proxy. */
  private static final String[] SOCKS_PROPERTIES = {"socksProxyHost", "java.net.useSystemProxies"};

  /** Whether it is switched on: the agent may be named twice, by the environment and a script. */
  private static volatile boolean on;

  static {
    TalariaAgent.register(new Activation());
  }

  private Activation() {}

  /** Switches Talaria on; ends the JVM if a property has a bad value. */
  @Override
  public void atStart(Instrumentation instrumentation) throws ReflectiveOperationException {
    if (!granted()) {
      return;
    }
    Config config;
    try {
      config = Config.load();
    } catch (IllegalArgumentException e) {
      System.err.println("talaria: " + e.getMessage());
      Runtime.getRuntime().halt(BAD_CONFIGURATION);
      return;
    }
    if (config.enabled() && !isJucx(config.jucx())) {
      System.err.println("talaria: " + noJucx(config));
      Runtime.getRuntime().halt(BAD_CONFIGURATION);
      return;
    }
    if (switchOn(config, instrumentation, true)) {
      StartFile.make(config.dir(), config.sharesNamespaces());
      announce(config);
    }
  }

  /** Switches Talaria on; without effect if the program has made its first channel. */
  @Override
  public void whileRunning(Instrumentation instrumentation) throws ReflectiveOperationException {
    if (!granted()) {
      return;
    }
    Config config;
    try {
      config = Config.load();
    } catch (IllegalArgumentException e) {
      System.err.println("talaria: " + e.getMessage() + "; the program stays on the JDK's sockets");
      return;
    }
    if (config.enabled() && !isJucx(config.jucx())) {
      System.err.println("talaria: " + noJucx(config) + "; the program stays on the JDK's sockets");
      return;
    }
    if (switchOn(config, instrumentation, false)) {
      StartFile.make(config.dir(), config.sharesNamespaces());
      announce(config);
    }
  }

  /** Whether Talaria may do what it needs; else says what is missing. */
  private static boolean granted() {
    boolean granted = Privileged.granted();
    if (!granted) {
      System.err.println(
          "talaria: is disabled, because the security manager's policy does not grant talaria.jar"
              + " java.security.AllPermission");
    }
    return granted;
  }

  /**
   * Names the provider, and then changes what depends on it; says why not, if another is in use.
   *
   * @return whether Talaria is switched on now, and was not before
   */
  private static boolean switchOn(Config config, Instrumentation instrumentation, boolean starting)
      throws ReflectiveOperationException {
    if (on || !config.enabled()) {
      return false;
    }
    String chosen = System.getProperty(PROVIDER_PROPERTY);
    if (chosen != null && !chosen.equals(PROVIDER)) {
      if (!config.quiet()) {
        System.err.println(
            "talaria: is disabled, " + PROVIDER_PROPERTY + " is already set to " + chosen);
      }
      return false;
    }
    boolean ucx = config.transports().contains(UCX) || config.rules() != null;
    exportChannels(instrumentation, ucx || config.sharesNamespaces());
    if (ucx) {
      allowNativeAccess(instrumentation);
      if (config.jucx() != null) {
        addJucx(config.jucx(), instrumentation);
      }
    }
    Objects.requireNonNull(JdkNio.provider()); // better to fail here than in the program's channels
    System.setProperty(PROVIDER_PROPERTY, PROVIDER);
    if (!starting || isHolderLoaded(instrumentation)) {
      String provider = SelectorProvider.provider().getClass().getName(); // made now, or before
      if (!provider.equals(PROVIDER)) {
        if (chosen == null) {
          System.clearProperty(PROVIDER_PROPERTY);
        }
        tellTooLate(config, provider, starting);
        return false;
      }
    }
    steerNetty(config, starting);
    if (config.sockets()) {
      takeSockets();
    }
    on = true;
    return true;
  }

  /**
   * Whether the JVM may have chosen its provider, which is so at the start only if another agent
   * was first. To ask for the provider would make it, which costs the start of every program.
   */
  private static boolean isHolderLoaded(Instrumentation instrumentation) {
    for (Class<?> loaded : instrumentation.getInitiatedClasses(null)) {
      if (loaded.getName().equals(HOLDER)) {
        return true;
      }
    }
    return false;
  }

  private static void tellTooLate(Config config, String provider, boolean starting) {
    if (config.quiet()) {
      return;
    }
    System.err.println(
        starting
            ? "talaria: is disabled, channels of "
                + provider
                + " were made before it was started, as by another agent: name talaria.jar before"
                + " all other agents"
            : "talaria: was attached too late, the program has already made channels of "
                + provider
                + " and stays with it");
  }

  /**
   * Has Netty take NIO where it chooses, unless the user has chosen. In a program that runs already
   * some code may hold the properties object already, so that object stays in place.
   */
  private static void steerNetty(Config config, boolean starting) {
    Set<String> steered = new HashSet<>();
    for (String property : NETTY_PROPERTIES) {
      if (System.getProperty(property) == null) {
        System.setProperty(property, "true");
        steered.add(property);
      }
    }
    if (starting && !steered.isEmpty()) {
      NettyProperties.install(steered, config.quiet());
    }
  }

  /** Whether a file, if one is named, is the jar of JUCX. */
  private static boolean isJucx(Path file) {
    if (file == null) {
      return true;
    }
    try (JarFile jar = new JarFile(file.toFile())) {
      return jar.getEntry(JUCX_CLASS) != null;
    } catch (IOException e) {
      return false;
    }
  }

  private static String noJucx(Config config) {
    return "property "
        + Config.JUCX
        + " is '"
        + config.jucx()
        + "', it must be the jar of JUCX (org.openucx:jucx from 1.15.0 on), or none";
  }

  /** Behind the class path, so that a program's own JUCX counts. */
  private static void addJucx(Path file, Instrumentation instrumentation) {
    try {
      instrumentation.appendToSystemClassLoaderSearch(new JarFile(file.toFile()));
    } catch (IOException e) {
      System.err.println("talaria: " + file + " cannot be read any more: " + e);
    }
  }

  private static void takeSockets() {
    for (String property : SOCKS_PROPERTIES) {
      String value = System.getProperty(property);
      if (value != null && !value.isEmpty() && !value.equals("false")) {
        System.err.println(
            "talaria: does not accelerate java.net.Socket, because "
                + property
                + " may name a SOCKS proxy");
        return;
      }
    }
    try {
      TalariaSockets.install();
    } catch (IOException e) {
      System.err.println(
          "talaria: does not accelerate java.net.Socket, the program has implementations of its own: "
              + e.getMessage());
    }
  }

  /**
   * Does what {@code --add-exports java.base/sun.nio.ch} would do, for the provider's module; or
   * {@code --add-opens}.
   */
  private static void exportChannels(Instrumentation instrumentation, boolean opens)
      throws ReflectiveOperationException {
    Module talaria = Class.forName(PROVIDER, false, ClassLoader.getSystemClassLoader()).getModule();
    instrumentation.redefineModule(
        Object.class.getModule(),
        Set.of(),
        Map.of("sun.nio.ch", Set.of(talaria)),
        opens ? Map.of("sun.nio.ch", Set.of(talaria)) : Map.of(),
        Set.of(),
        Map.of());
  }

  /**
   * Does what {@code --enable-native-access=ALL-UNNAMED} would do, for users who have asked for a
   * transport that calls native code. There is no public way for an agent; where this one is not
   * there, the JVM prints its warning, or follows its options.
   */
  private static void allowNativeAccess(Instrumentation instrumentation) {
    try {
      instrumentation.redefineModule(
          Object.class.getModule(),
          Set.of(),
          Map.of("jdk.internal.access", Set.of(Activation.class.getModule())),
          Map.of(),
          Set.of(),
          Map.of());
      Object access =
          Class.forName("jdk.internal.access.SharedSecrets")
              .getMethod("getJavaLangAccess")
              .invoke(null);
      Class.forName("jdk.internal.access.JavaLangAccess")
          .getMethod("addEnableNativeAccessToAllUnnamed")
          .invoke(access);
    } catch (ReflectiveOperationException | RuntimeException e) {
      // Older than Java 22: the transport says that it cannot be used. Newer: the JVM warns.
    }
  }

  /** Why UCX, which is asked for, cannot be used, if that can be told at once; else nothing. */
  private static String ucxUnavailableReason(Config config) {
    if (!config.transports().contains(UCX)) {
      return "";
    }
    try {
      return (String)
          Class.forName(UCX_TRANSPORTS, true, ClassLoader.getSystemClassLoader())
              .getMethod("unavailableReason")
              .invoke(null);
    } catch (ReflectiveOperationException | LinkageError e) {
      return ""; // the transport says it itself
    }
  }

  /** The transports that are asked for and may turn out to be usable, in words; or nothing. */
  private static String transports(Config config, boolean withUcx) {
    StringBuilder transports = new StringBuilder();
    for (String transport : config.transports()) {
      if (transport.equals(UCX) && !withUcx) {
        continue;
      }
      transports.append(transports.length() == 0 ? "" : ", or else ");
      if (!transport.equals(UCX)) {
        transports.append("shared memory");
      } else if (byJucx(config)) {
        transports.append("UCX by JUCX");
      } else {
        transports.append("UCX");
      }
    }
    if (withUcx && config.transports().equals(List.of(UCX))) {
      transports.append(", or else TCP"); // whether it can be loaded is not known yet
    }
    return transports.toString();
  }

  private static boolean byJucx(Config config) {
    return config.ucxBinding().equals("jucx")
        || (config.ucxBinding().equals("auto") && Runtime.version().feature() < FFM_JAVA);
  }

  private static void announce(Config config) {
    if (config.quiet()) {
      return;
    }
    if (!PeerCredentials.known()) {
      System.err.println(
          "talaria: NIO connections stay on TCP: this Java has no module jdk.net, which tells"
              + " other users apart; add it to the run-time image");
      return;
    }
    if (Host.uid() == Host.UNKNOWN_UID) {
      System.err.println("talaria: NIO connections stay on TCP: " + Host.NO_UID);
      return;
    }
    String unavailableReason = Directories.unavailableReason(config);
    if (unavailableReason != null) {
      System.err.println("talaria: NIO connections stay on TCP: " + unavailableReason);
      return;
    }
    String disk = Directories.disk(config);
    if (disk != null) {
      System.err.println("talaria: " + disk);
    }
    String ucx = ucxUnavailableReason(config);
    String transports = transports(config, ucx.isEmpty());
    if (!ucx.isEmpty()) {
      ToldProblems.add(ucx); // once is enough
    }
    String version = Activation.class.getPackage().getImplementationVersion();
    System.err.println(
        "Talaria "
            + (version == null ? "(development)" : version)
            + ": NIO connections"
            + config.ports().words()
            + (transports.isEmpty() ? " stay on TCP" : " use " + transports)
            + " on this host (pid "
            + Host.pid()
            + ")"
            + (ucx.isEmpty() ? "" : "; UCX cannot be used: " + ucx));
  }
}
