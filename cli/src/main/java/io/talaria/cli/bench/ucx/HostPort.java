// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench.ucx;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A host and a port, as users write them.
 *
 * @param host a name or an address; empty for all addresses of this host
 * @param port the port
 */
record HostPort(String host, int port) {
  /** The port if none is given. */
  static final int DEFAULT_PORT = 13_340;

  private static final int MOST = 65_535;

  /** Reads {@code HOST:PORT}, {@code [IPV6]:PORT}, {@code HOST}, {@code :PORT} or nothing. */
  static final class Converter implements ITypeConverter<HostPort> {
    @Override
    public HostPort convert(String text) {
      String value = text.strip();
      int bracket = value.indexOf(']');
      int colon = value.indexOf(':', Math.max(0, bracket));
      String host = colon < 0 ? value : value.substring(0, colon);
      if (bracket > 0 && host.startsWith("[") && host.endsWith("]")) {
        host = host.substring(1, host.length() - 1);
      }
      try {
        int port = colon < 0 ? DEFAULT_PORT : Integer.parseInt(value.substring(colon + 1));
        if (port >= 0 && port <= MOST) {
          return new HostPort(host, port);
        }
      } catch (NumberFormatException e) {
        // Told below.
      }
      throw new TypeConversionException(
          "'" + text + "' is no HOST:PORT, such as 10.1.0.2:" + DEFAULT_PORT);
    }
  }
}
