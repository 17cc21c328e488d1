// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.context;

import io.talaria.nio.transport.TransportProvider;

/**
 * Finds a transport of another module by its name: {@code io.talaria.nio.NAME.Transports} with a
 * method {@code open(boolean)}. By name and not by a service, because being on the class path must
 * change nothing, and because its classes may be of a newer Java than this one.
 */
final class NamedTransport {
  private NamedTransport() {}

  /**
   * The transport, or one that says why it is not there.
   *
   * @param hosts whether it is to reach other hosts, too
   */
  static TransportProvider load(String name, boolean hosts) {
    String found = "io.talaria.nio." + name + ".Transports";
    try {
      return (TransportProvider)
          Class.forName(found, true, NamedTransport.class.getClassLoader())
              .getMethod("open", boolean.class)
              .invoke(null, hosts);
    } catch (UnsupportedClassVersionError e) {
      return new MissingTransport(
          name,
          "The transport "
              + name
              + " needs Java 25 or newer; this is Java "
              + Runtime.version().feature()
              + ".");
    } catch (ClassNotFoundException e) {
      return new MissingTransport(
          name, "The classes of the transport " + name + " are not on the class path.");
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      return new MissingTransport(
          name, "The transport " + name + " could not be started: " + cause);
    }
  }
}
