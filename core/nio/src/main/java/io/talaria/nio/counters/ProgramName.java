// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

/** What the program of this process is called. */
final class ProgramName {
  private ProgramName() {}

  /** The main class or jar and its arguments, or the executable, or empty. */
  static String command() {
    String command = System.getProperty("sun.java.command", "");
    return command.isEmpty() ? ProcessHandle.current().info().command().orElse("") : command;
  }

  /** The main class without its package, or the name of the jar. */
  static String shortName() {
    return shortName(command(), System.getProperty("java.class.path", ""));
  }

  /** The version of Talaria as its jar states it. */
  static String talariaVersion() {
    String version = ProgramName.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  /**
   * @param classPath begins, with -jar, with the jar, of whatever suffix, as the command does;
   *     agents stand behind it
   */
  static String shortName(String command, String classPath) {
    int colon = classPath.indexOf(':');
    String jar = colon < 0 ? classPath : classPath.substring(0, colon);
    if (!jar.isEmpty() && (command + " ").startsWith(jar + " ")) {
      return jar.substring(jar.lastIndexOf('/') + 1);
    }
    int space = command.indexOf(' ');
    String first = space < 0 ? command : command.substring(0, space);
    boolean file = first.startsWith("/") || first.endsWith(".jar"); // an executable, or a jar
    // A module may stand before the class: module/class.
    first = first.substring(first.lastIndexOf('/') + 1);
    return file ? first : first.substring(first.lastIndexOf('.') + 1);
  }
}
