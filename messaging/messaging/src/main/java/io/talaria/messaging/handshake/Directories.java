// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** Where nodes are, by their ids: implements what {@code NodeDirectory} offers. */
public final class Directories {
  private static final long LOOK_NS = 1_000_000_000L;
  private static final String ID = "{id}";
  private static final int MAX_PORT = 65_535;

  private Directories() {}

  /** Those of a file with lines {@code ID HOST:PORT}, ids from 0 to a largest one. */
  public static IntFunction<InetSocketAddress> file(Path file, int maxId) {
    return new InFile(file, maxId);
  }

  /** Those whose hosts have names of one pattern. */
  public static IntFunction<InetSocketAddress> names(String pattern, int port) {
    if (!pattern.contains(ID)) {
      throw new IllegalArgumentException(
          "the pattern " + pattern + " has no " + ID + ", which stands for the node's number");
    }
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("port is " + port + ", it must be from 1 to " + MAX_PORT);
    }
    return node ->
        InetSocketAddress.createUnresolved(pattern.replace(ID, Integer.toString(node)), port);
  }

  /** Does not resolve a name, because that may take long. */
  private static InetSocketAddress addressOf(String host, int port) {
    try {
      return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    } catch (IllegalArgumentException e) {
      return InetSocketAddress.createUnresolved(host, port);
    }
  }

  private static final class InFile implements IntFunction<InetSocketAddress> {
    private final Path file;
    private final int maxId;
    private Map<Integer, InetSocketAddress> nodes;
    private FileTime modified;
    private long lookedNs;

    InFile(Path file, int maxId) {
      this.file = file;
      this.maxId = maxId;
      try {
        modified = Files.getLastModifiedTime(file);
        nodes = read(Files.readAllLines(file));
      } catch (IOException e) {
        throw new IllegalArgumentException(
            "directory of nodes " + file + " cannot be read: " + e, e);
      }
      lookedNs = System.nanoTime();
    }

    @Override
    public synchronized InetSocketAddress apply(int node) {
      if (System.nanoTime() - lookedNs > LOOK_NS) {
        lookedNs = System.nanoTime();
        lookAgain();
      }
      return nodes.get(node);
    }

    private void lookAgain() {
      try {
        FileTime now = Files.getLastModifiedTime(file);
        if (!now.equals(modified)) {
          nodes = read(Files.readAllLines(file));
          modified = now;
        }
      } catch (IOException | IllegalArgumentException e) {
        // Someone is writing the file: keep what was known.
      }
    }

    private Map<Integer, InetSocketAddress> read(List<String> lines) {
      Map<Integer, InetSocketAddress> found = new HashMap<>();
      Map<Integer, Integer> numbers = new HashMap<>();
      for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i).replaceFirst("#.*", "").trim();
        if (!line.isEmpty()) {
          int id = readLine(line, i + 1, found);
          Integer other = numbers.put(id, i + 1);
          if (other != null) {
            throw new IllegalArgumentException(
                file + ": lines " + other + " and " + (i + 1) + " are both of node " + id);
          }
        }
      }
      return found;
    }

    /** Reads a line, adds its node to {@code found}, and returns the node's id. */
    private int readLine(String line, int number, Map<Integer, InetSocketAddress> found) {
      String[] words = line.split("\\s+");
      int colon = words.length == 2 ? words[1].lastIndexOf(':') : -1;
      try {
        int id = Integer.parseInt(words[0]);
        int port = Integer.parseInt(words[1].substring(colon + 1));
        if (colon > 0 && id >= 0 && id <= maxId && port > 0 && port <= 65_535) {
          found.put(id, addressOf(words[1].substring(0, colon), port));
          return id;
        }
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
        // Reported below.
      }
      throw new IllegalArgumentException(
          file
              + ", line "
              + number
              + ": '"
              + line
              + "' is not of the form ID HOST:PORT, with an id from 0 to "
              + maxId);
    }
  }
}
