// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The TCP sockets that this process's network namespace had at one moment, of IPv4, also those of
 * sockets of IPv6 that speak it. Whatever process owns them is among them. Immutable; made with
 * file work, not by the program's threads.
 */
public final class TcpSockets {
  private static final String SPACE = "\\s+";
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int STATE = 3;
  private static final String ESTABLISHED = "01";
  private static final int WORD_DIGITS = 8;
  private static final int PORT_BITS = 16;

  /** How the first three words of an IPv6 address are printed that stands for one of IPv4. */
  private static final String MAPPED = "0000000000000000" + mappedWord();

  /** Those that have a peer, by its address and port. */
  private final Map<Long, List<Entry>> byRemote = new HashMap<>();

  private final Map<Long, List<Entry>> byLocal = new HashMap<>();

  private record Entry(long local, long remote, boolean established) {}

  private TcpSockets() {}

  private static String mappedWord() {
    return ProcNet.network(0xffff) == 0xffff ? "0000FFFF" : "FFFF0000";
  }

  /**
   * Reads them.
   *
   * @throws IOException if they cannot be read
   */
  public static TcpSockets read() throws IOException {
    return parse(ProcNet.read("tcp"), six());
  }

  /** A kernel without IPv6 does not have the file. */
  private static String six() throws IOException {
    try {
      return ProcNet.read("tcp6");
    } catch (NoSuchFileException e) {
      return "";
    }
  }

  static TcpSockets parse(String four, String six) throws IOException {
    TcpSockets sockets = new TcpSockets();
    sockets.add(four);
    sockets.add(six);
    return sockets;
  }

  private void add(String table) throws IOException {
    for (String line : table.split("\n", -1)) {
      String[] fields = line.trim().split(SPACE, STATE + 2);
      if (fields.length > STATE && fields[0].endsWith(":")) {
        add(fields);
      }
    }
  }

  private void add(String[] fields) throws IOException {
    String local = four(fields[LOCAL]);
    String remote = four(fields[REMOTE]);
    if (local != null && remote != null) {
      Entry entry = new Entry(end(local), end(remote), fields[STATE].equals(ESTABLISHED));
      byLocal.computeIfAbsent(entry.local, end -> new ArrayList<>(1)).add(entry);
      byRemote.computeIfAbsent(entry.remote, end -> new ArrayList<>(1)).add(entry);
    }
  }

  /** The end with its address as one of IPv4; null if it is none. */
  private static String four(String end) {
    if (end.indexOf(':') == WORD_DIGITS) {
      return end;
    }
    return end.startsWith(MAPPED) ? end.substring(MAPPED.length()) : null;
  }

  private static long end(String text) throws IOException {
    int colon = text.indexOf(':');
    if (colon != WORD_DIGITS) {
      throw new IOException("no address: " + text);
    }
    int address = ProcNet.network(ProcNet.hex(text.substring(0, colon)));
    return end(address, ProcNet.hex(text.substring(colon + 1)));
  }

  private static long end(int address, int port) {
    return Integer.toUnsignedLong(address) << PORT_BITS | port;
  }

  private static long end(InetSocketAddress address) {
    return end(ProcNet.number((Inet4Address) address.getAddress()), address.getPort());
  }

  /**
   * Whether the client's end of a connection is here, stands, and is no end of another connection
   * in this namespace: then nothing in this namespace accepts in the server's place.
   */
  public boolean haveClientAlone(InetSocketAddress client, InetSocketAddress server) {
    return established(client, server) && !byRemote.containsKey(end(client));
  }

  /**
   * Whether the server's end of a connection is here, stands, and the client's end is no end of any
   * other connection in this namespace: then nothing in this namespace stands in for the client.
   */
  public boolean haveServerAlone(InetSocketAddress client, InetSocketAddress server) {
    return established(server, client)
        && byRemote.get(end(client)).size() == 1
        && !byLocal.containsKey(end(client));
  }

  private boolean established(InetSocketAddress local, InetSocketAddress remote) {
    long to = end(remote);
    int found = 0;
    boolean stands = false;
    for (Entry entry : byLocal.getOrDefault(end(local), List.of())) {
      if (entry.remote == to) {
        found++;
        stands = entry.established;
      }
    }
    return found == 1 && stands;
  }
}
