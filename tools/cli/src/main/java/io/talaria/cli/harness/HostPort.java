// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A host and a port, as users write them.
 *
 * @param host a name or an address; empty for all addresses of this host
 * @param port the port
 */
public record HostPort(String host, int port) {
  private static final int MAX_PORT = 65_535;

  /**
   * Reads {@code HOST:PORT}, {@code [IPV6]:PORT}, {@code HOST}, {@code :PORT} or nothing.
   *
   * @param text what the user has written
   * @param defaultPort the port if none is given
   * @throws TypeConversionException if it is none of these
   */
  public static HostPort parse(String text, int defaultPort) {
    String value = text.strip();
    int bracket = value.indexOf(']');
    int colon = value.indexOf(':', Math.max(0, bracket));
    String host = colon < 0 ? value : value.substring(0, colon);
    if (bracket > 0 && host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = colon < 0 ? defaultPort : Integer.parseInt(value.substring(colon + 1));
      if (port >= 0 && port <= MAX_PORT) {
        return new HostPort(host, port);
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new TypeConversionException(
        "'" + text + "' is no HOST:PORT, such as 10.1.0.2:" + defaultPort);
  }

  /** Reads it as the value of an option. */
  public static class Converter implements ITypeConverter<HostPort> {
    private final int defaultPort;

    /**
     * Creates the converter; a subclass for picocli says the port.
     *
     * @param defaultPort the port if none is given
     */
    protected Converter(int defaultPort) {
      this.defaultPort = defaultPort;
    }

    @Override
    public HostPort convert(String text) {
      return parse(text, defaultPort);
    }
  }

  /** Returns it as {@link #parse} reads it. */
  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
