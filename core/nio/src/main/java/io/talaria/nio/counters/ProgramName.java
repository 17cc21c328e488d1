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
    return shortName(command());
  }

  /** The version of Talaria as its jar states it. */
  static String talariaVersion() {
    String version = ProgramName.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  static String shortName(String command) {
    int space = command.indexOf(' ');
    String first = space < 0 ? command : command.substring(0, space);
    // A module may stand before the class: module/class.
    first = first.substring(first.lastIndexOf('/') + 1);
    return first.endsWith(".jar") ? first : first.substring(first.lastIndexOf('.') + 1);
  }
}
