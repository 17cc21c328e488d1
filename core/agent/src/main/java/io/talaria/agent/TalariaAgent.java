// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;

/**
 * What the JVM calls when it is started with {@code -javaagent:talaria.jar}, when the agent is
 * attached to it later, and with {@code -jar talaria.jar}.
 *
 * <p>{@code JAVA_TOOL_OPTIONS} reaches every JVM of a user, old ones and short-lived tools too.
 * Therefore this class is Java 8 byte code and names nothing newer, throws nothing, and prints to
 * the standard error stream only. All that needs Java 17 is in {@code Activation}, which is loaded
 * by name and registers itself. It is not called by reflection: a JVM that starts makes several
 * classes for the first call of each shape, which takes it some milliseconds.
 */
public final class TalariaAgent {
  private static final int OLDEST_JAVA = 17;
  private static final int FAILED = 1;

  /** EX_UNAVAILABLE of sysexits.h. */
  private static final int MISSING = 69;

  /** EX_CONFIG of sysexits.h. */
  private static final int BAD_CONFIGURATION = 78;

  private static Activator activator;

  private TalariaAgent() {}

  /** What switches Talaria on. */
  interface Activator {
    /**
     * Called before the program starts.
     *
     * @param instrumentation the JVM's instrumentation service
     * @throws ReflectiveOperationException if the provider is not there
     */
    void atStart(Instrumentation instrumentation) throws ReflectiveOperationException;

    /**
     * Called in a program that is already running.
     *
     * @param instrumentation the JVM's instrumentation service
     * @throws ReflectiveOperationException if the provider is not there
     */
    void whileRunning(Instrumentation instrumentation) throws ReflectiveOperationException;
  }

  /**
   * Called by {@code Activation} when it is loaded.
   *
   * @param one what switches Talaria on
   */
  static synchronized void register(Activator one) {
    activator = one;
  }

  /**
   * Called before the program's {@code main}.
   *
   * @param arguments what follows {@code talaria.jar=}; there are no options to give
   * @param instrumentation the JVM's instrumentation service
   */
  public static void premain(String arguments, Instrumentation instrumentation) {
    start(true, arguments, instrumentation);
  }

  /**
   * Called when the agent is attached to a running JVM.
   *
   * @param arguments what the attaching program gave; there are no options to give
   * @param instrumentation the JVM's instrumentation service
   */
  public static void agentmain(String arguments, Instrumentation instrumentation) {
    start(false, arguments, instrumentation);
  }

  /**
   * Called by {@code java -jar talaria.jar}: the commands that the jar has itself.
   *
   * @param words the command and its arguments
   */
  public static void main(String[] words) {
    int status;
    try {
      String version = System.getProperty("java.specification.version");
      if (featureVersion(version) < OLDEST_JAVA) {
        System.err.println(
            "talaria: needs Java " + OLDEST_JAVA + " or newer, this is Java " + version);
        status = MISSING;
      } else {
        status =
            (Integer)
                Class.forName("io.talaria.agent.Commands")
                    .getMethod("run", String[].class)
                    .invoke(null, (Object) words);
      }
    } catch (InvocationTargetException e) {
      System.err.println("talaria: " + e.getCause());
      status = FAILED;
    } catch (ReflectiveOperationException e) {
      System.err.println("talaria: " + e);
      status = FAILED;
    }
    System.out.flush();
    System.exit(status);
  }

  private static void start(boolean atStart, String arguments, Instrumentation instrumentation) {
    try {
      if ("false".equals(System.getProperty("talaria.enabled"))) {
        return;
      }
      String version = System.getProperty("java.specification.version");
      if (featureVersion(version) < OLDEST_JAVA) {
        if (!"true".equals(System.getProperty("talaria.quiet"))) {
          System.err.println(
              "talaria: needs Java "
                  + OLDEST_JAVA
                  + " or newer, this is Java "
                  + version
                  + "; the program stays on the JDK's sockets");
        }
        return;
      }
      if (arguments != null && !arguments.trim().isEmpty()) {
        refuse(arguments, atStart);
        return;
      }
      Class.forName("io.talaria.agent.Activation");
      if (atStart) {
        activator().atStart(instrumentation);
      } else {
        activator().whileRunning(instrumentation);
      }
    } catch (Throwable e) {
      report(e);
    }
  }

  private static synchronized Activator activator() {
    return activator;
  }

  /** As for a bad property: at the start the JVM ends, while running the program continues. */
  private static void refuse(String arguments, boolean atStart) {
    System.err.println(
        "talaria: the agent has no options, but was given '"
            + arguments
            + "': set system properties instead, such as -Dtalaria.quiet=true"
            + (atStart ? "" : "; the program stays on the JDK's sockets"));
    if (atStart) {
      Runtime.getRuntime().halt(BAD_CONFIGURATION);
    }
  }

  private static void report(Throwable e) {
    try {
      System.err.println(
          "talaria: could not be switched on (" + e + "); the program stays on the JDK's sockets");
    } catch (Throwable ignored) {
      // The failure cannot be reported anywhere.
    }
  }

  /** Gives 8 for "1.8" and 17 for "17"; 0 for what is no version. */
  static int featureVersion(String specificationVersion) {
    if (specificationVersion == null) {
      return 0;
    }
    String number =
        specificationVersion.startsWith("1.")
            ? specificationVersion.substring(2)
            : specificationVersion;
    int dot = number.indexOf('.');
    try {
      return Integer.parseInt(dot < 0 ? number : number.substring(0, dot));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
