// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.transport.TalariaThread;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Which connections between hosts are to be accelerated, in the syntax of Java's own file for the
 * Sockets Direct Protocol:
 *
 * <pre>
 *   # comment
 *   connect 10.1.0.0/16 9092-9094
 *   bind    *           2181
 *   connect db.example  5432
 * </pre>
 *
 * <p>Thread-safe. Names are looked up once, by a thread of its own; until then {@link #resolved} is
 * false, and no rule with a name matches.
 */
public final class HostRules {
  private static final int MAX_BYTES = 64 << 10;
  private static final int MAX_PORT = 65_535;
  private static final int WORDS = 3;
  private static final int IPV4_PARTS = 4;
  private static final int MAX_NAME = 253;
  private static final Pattern IPV4 = Pattern.compile("[0-9.]+");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]+");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?");
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,5}");

  private final List<Rule> rules;
  private volatile boolean resolved;

  private HostRules(List<Rule> rules) {
    this.rules = List.copyOf(rules);
    resolved = this.rules.stream().allMatch(rule -> rule.hosts.name == null);
  }

  /** One line. */
  private record Rule(boolean binds, Hosts hosts, int firstPort, int lastPort) {
    boolean has(int port) {
      return port >= firstPort && port <= lastPort;
    }
  }

  /** Whom a rule names: everybody, the addresses with a prefix, or those of a name. */
  private static final class Hosts {
    final byte[] address;
    final int prefixBits;
    final String name;
    volatile List<InetAddress> found = List.of();

    Hosts(byte[] address, int prefixBits, String name) {
      this.address = address;
      this.prefixBits = prefixBits;
      this.name = name;
    }

    boolean has(InetAddress asked) {
      if (name != null) {
        return found.contains(asked);
      }
      return address == null || begins(asked.getAddress());
    }

    private boolean begins(byte[] asked) {
      if (asked.length != address.length) {
        return false;
      }
      for (int bit = 0; bit < prefixBits; bit++) {
        int mask = 0x80 >> (bit & 7);
        if (((asked[bit >> 3] ^ address[bit >> 3]) & mask) != 0) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * Reads a file of rules.
   *
   * @throws IOException if it cannot be read, or if a line makes no sense; the message names the
   *     file, the line, and what is wrong
   */
  public static HostRules read(Path file) throws IOException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MAX_BYTES + 1);
    }
    if (bytes.length > MAX_BYTES) {
      throw new IOException(file + " is longer than " + MAX_BYTES + " bytes");
    }
    return parse(new String(bytes, StandardCharsets.UTF_8), file.toString());
  }

  /**
   * Reads rules.
   *
   * @param text the lines
   * @param source what messages call it
   * @throws IOException if a line makes no sense
   */
  static HostRules parse(String text, String source) throws IOException {
    List<Rule> rules = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\\R", -1)) {
      number++;
      int comment = line.indexOf('#');
      String said = (comment < 0 ? line : line.substring(0, comment)).strip();
      if (!said.isEmpty()) {
        try {
          rules.add(rule(said));
        } catch (IllegalArgumentException e) {
          throw new IOException(source + ", line " + number + ": " + e.getMessage());
        }
      }
    }
    return new HostRules(rules);
  }

  private static Rule rule(String line) {
    String[] words = line.split("\\s+");
    if (words.length != WORDS) {
      throw bad(line, "three words: connect or bind, addresses, ports");
    }
    boolean binds = words[0].equalsIgnoreCase("bind");
    if (!binds && !words[0].equalsIgnoreCase("connect")) {
      throw bad(words[0], "connect or bind");
    }
    Hosts hosts = hosts(words[1]);
    int dash = words[2].indexOf('-');
    String first = dash < 0 ? words[2] : words[2].substring(0, dash);
    String last = dash < 0 ? words[2] : words[2].substring(dash + 1);
    int firstPort = port(first, 1, words[2]);
    int lastPort = port(last, MAX_PORT, words[2]);
    if (firstPort > lastPort) {
      throw bad(words[2], "a range of ports from the lower to the higher");
    }
    return new Rule(binds, hosts, firstPort, lastPort);
  }

  private static int port(String word, int open, String whole) {
    if (word.equals("*")) {
      return open;
    }
    if (NUMBER.matcher(word).matches()) {
      int port = Integer.parseInt(word);
      if (port >= 1 && port <= MAX_PORT) {
        return port;
      }
    }
    throw bad(whole, "a port from 1 to " + MAX_PORT + ", a range such as 9092-9094, or *");
  }

  private static Hosts hosts(String word) {
    if (word.equals("*")) {
      return new Hosts(null, 0, null);
    }
    int slash = word.indexOf('/');
    String host = slash < 0 ? word : word.substring(0, slash);
    byte[] address = literal(host, word);
    if (address == null) {
      if (slash >= 0 || host.length() > MAX_NAME || !NAME.matcher(host).matches()) {
        throw bad(word, "an address, an address with a prefix such as 10.1.0.0/16, a name, or *");
      }
      return new Hosts(null, 0, host);
    }
    int bits = address.length * Byte.SIZE;
    if (slash >= 0) {
      String prefix = word.substring(slash + 1);
      if (!NUMBER.matcher(prefix).matches() || Integer.parseInt(prefix) > bits) {
        throw bad(word, "an address with a prefix of at most " + bits + " bits");
      }
      bits = Integer.parseInt(prefix);
    }
    return new Hosts(address, bits, null);
  }

  /** The bytes of an address that is written in numbers, or null if it is a name. */
  private static byte[] literal(String host, String word) {
    boolean four = IPV4.matcher(host).matches();
    if (!four && !(host.indexOf(':') >= 0 && IPV6.matcher(host).matches())) {
      return null;
    }
    try {
      if (!four || host.split("\\.", -1).length == IPV4_PARTS) {
        return InetAddress.getByName(host).getAddress(); // of numbers: no name service is asked
      }
    } catch (UnknownHostException e) {
      // Refused below.
    }
    throw bad(word, "an address such as 10.1.2.3 or fd00::1");
  }

  private static IllegalArgumentException bad(String what, String allowed) {
    return new IllegalArgumentException("'" + what + "' must be " + allowed);
  }

  /** Whether all names have been looked up, or there are none. */
  public boolean resolved() {
    return resolved;
  }

  /**
   * Looks the names up, in a thread of its own if there are any.
   *
   * @param log takes a line for each name that is not known; called by that thread
   */
  public void resolve(Consumer<String> log) {
    if (!resolved) {
      TalariaThread.daemon("talaria-rules", () -> lookUp(log)).start();
    }
  }

  private void lookUp(Consumer<String> log) {
    try {
      for (Rule rule : rules) {
        String name = rule.hosts.name;
        if (name != null) {
          try {
            rule.hosts.found = List.of(InetAddress.getAllByName(name));
          } catch (UnknownHostException | RuntimeException e) {
            log.accept("no address is known of '" + name + "'; its rules match nothing");
          }
        }
      }
    } finally {
      resolved = true;
    }
  }

  /** Whether a rule wants connections to a service accelerated. */
  public boolean connects(InetSocketAddress service) {
    return rules.stream()
        .anyMatch(
            rule ->
                !rule.binds && rule.has(service.getPort()) && rule.hosts.has(service.getAddress()));
  }

  /** Whether a rule wants connections accelerated that came to an address of this host. */
  public boolean binds(InetSocketAddress service) {
    return rules.stream()
        .anyMatch(
            rule ->
                rule.binds && rule.has(service.getPort()) && rule.hosts.has(service.getAddress()));
  }

  /** Whether connections to a listener may be accelerated: it may be bound to all addresses. */
  public boolean listens(InetSocketAddress listener) {
    return binds(listener)
        || (listener.getAddress().isAnyLocalAddress()
            && rules.stream().anyMatch(rule -> rule.binds && rule.has(listener.getPort())));
  }

  /** Number of rules. */
  public int size() {
    return rules.size();
  }
}
