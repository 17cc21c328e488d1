// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.fabric.Fabric;

/**
 * Finds a fabric of another module by its name: {@code io.talaria.nio.NAME.Fabrics} with a method
 * {@code open(boolean)}. By name and not by a service, because being on the class path must change
 * nothing, and because its classes may be of a newer Java than this one.
 */
final class NamedFabric {
  private NamedFabric() {}

  /**
   * The fabric, or one that says why it is not there.
   *
   * @param hosts whether it is to reach other hosts, too
   */
  static Fabric load(String name, boolean hosts) {
    String found = "io.talaria.nio." + name + ".Fabrics";
    try {
      return (Fabric)
          Class.forName(found, true, NamedFabric.class.getClassLoader())
              .getMethod("open", boolean.class)
              .invoke(null, hosts);
    } catch (UnsupportedClassVersionError e) {
      return new MissingFabric(
          name, "It needs Java 25 or newer; this is Java " + Runtime.version().feature() + ".");
    } catch (ClassNotFoundException e) {
      return new MissingFabric(name, "Its classes are not on the class path.");
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      return new MissingFabric(name, "It could not be started: " + cause);
    }
  }
}
