// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.config;

import io.talaria.nio.process.Host;
import java.nio.charset.Charset;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.function.Function;

/**
 * All {@code talaria.*} system properties, read once and checked. Immutable.
 *
 * <p>The table of properties in {@code docs/configuration.md} is the documentation for users;
 * {@link #toString} prints what is in force.
 */
public final class Config {
  /** Whether connections are accelerated at all. */
  public static final String ENABLED = "talaria.enabled";

  /** Transports in order of preference. */
  public static final String TRANSPORTS = "talaria.transports";

  /** Run-time directory: announcements and counters. */
  public static final String DIR = "talaria.dir";

  /** Directory of shared-memory files. */
  public static final String SHM_DIR = "talaria.shm.dir";

  /** Size of a new ring in bytes. */
  public static final String RING_INITIAL = "talaria.shm.ring.initial";

  /** What a ring may grow to, in bytes. */
  public static final String RING_MAX = "talaria.shm.ring.max";

  /** How long a thread spins before it sleeps, in nanoseconds. */
  public static final String SPIN_NS = "talaria.spin.ns";

  /** How many reads and writes TCP carries before a client connection requests its upgrade. */
  public static final String UPGRADE_AFTER = "talaria.upgrade.after";

  /** Whether {@code java.net.Socket} and {@code ServerSocket} are accelerated too. */
  public static final String SOCKETS = "talaria.sockets";

  /** The services whose connections may leave TCP, by their ports. */
  public static final String PORTS = "talaria.ports";

  /** Those whose connections stay on TCP all the same. */
  public static final String PORTS_EXCEPT = "talaria.ports.except";

  /** Whether memory is shared with other network namespaces of this host. */
  public static final String NAMESPACES = "talaria.namespaces";

  /** Which connections to and from other hosts are accelerated: a file. */
  public static final String RULES = "talaria.rules";

  /** The secret that hosts share: a file. */
  public static final String KEY = "talaria.key";

  /** How far beside a service's port its rendezvous port is. */
  public static final String RENDEZVOUS_OFFSET = "talaria.rendezvous.offset";

  /** By which binding the transport {@code ucx} reaches UCX. */
  public static final String UCX_BINDING = "talaria.ucx.binding";

  /** JUCX, for the binding of that name: a jar. */
  public static final String JUCX = "talaria.jucx";

  /** Whether the bean is registered with the platform's MBean server. */
  public static final String JMX = "talaria.jmx";

  /** Suppresses the line at start. */
  public static final String QUIET = "talaria.quiet";

  private static final String PREFIX = "talaria.";
  private static final List<String> KNOWN =
      List.of(
          ENABLED,
          TRANSPORTS,
          DIR,
          SHM_DIR,
          RING_INITIAL,
          RING_MAX,
          SPIN_NS,
          UPGRADE_AFTER,
          SOCKETS,
          PORTS,
          PORTS_EXCEPT,
          NAMESPACES,
          RULES,
          KEY,
          RENDEZVOUS_OFFSET,
          UCX_BINDING,
          JUCX,
          JMX,
          QUIET);

  /** Begins of names that other parts of Talaria read, and check themselves. */
  private static final List<String> RESERVED =
      List.of(
          "talaria.bench.",
          "talaria.cli.",
          "talaria.harness.",
          "talaria.ibmad.",
          "talaria.ibnetdisc.",
          "talaria.ibumad.",
          "talaria.it.",
          "talaria.mpj.",
          "talaria.rdmacm.",
          "talaria.test.",
          "talaria.ucx.",
          "talaria.verbs.");

  private static final List<String> TRANSPORT_NAMES = List.of("shm", "ucx");
  private static final List<String> TRANSPORTS_STANDARD = List.of("shm");
  private static final List<String> BINDING_NAMES = List.of("auto", "ffm", "jucx");
  private static final String OWN = "own";
  private static final String SHARED = "shared";

  /** What the address of a Unix-domain socket holds in Java, less {@code /l-65535-ID}. */
  public static final int MAX_DIR_BYTES = 106 - 25;

  private static final Charset FILE_NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private static final int MIN_RING = 4096;
  private static final int MAX_RING = 1 << 28;
  private static final long MAX_SPIN_NS = 1_000_000_000L;
  private static final int MAX_OFFSET = 32_767;

  /** What {@link #UPGRADE_AFTER} is without a value; 0: the upgrade is sought at once. */
  private static final int UPGRADE_AFTER_STANDARD = 0;

  private static final int MAX_UPGRADE_AFTER = 1_000_000;
  private static final String NONE = "none";

  private final boolean enabled;
  private final List<String> transports;
  private final Path dir;
  private final Path shmDir;
  private final int ringInitialBytes;
  private final int ringMaxBytes;
  private final long spinNs;
  private final int upgradeAfter;
  private final boolean sockets;
  private final Ports ports;
  private final boolean sharesNamespaces;
  private final Path rules;
  private final Path key;
  private final int rendezvousOffset;
  private final String ucxBinding;
  private final Path jucx;
  private final boolean jmx;
  private final boolean quiet;

  private Config(Function<String, String> property) {
    enabled = flag(property, ENABLED, true);
    transports = transports(property);
    String user = Integer.toString(Host.uid());
    dir = socketPath(property, DIR, "/tmp/talaria-" + user);
    shmDir = path(property, SHM_DIR, "/dev/shm/talaria-" + user);
    ringInitialBytes = powerOfTwo(property, RING_INITIAL, 32 << 10);
    int max = powerOfTwo(property, RING_MAX, 4 << 20);
    if (max < ringInitialBytes && property.apply(RING_MAX) != null) {
      throw invalid(
          RING_MAX,
          property.apply(RING_MAX),
          "at least " + RING_INITIAL + ", which is " + ringInitialBytes);
    }
    ringMaxBytes = Math.max(max, ringInitialBytes);
    spinNs = number(property, SPIN_NS, 20_000, 0, MAX_SPIN_NS);
    upgradeAfter =
        (int) number(property, UPGRADE_AFTER, UPGRADE_AFTER_STANDARD, 0, MAX_UPGRADE_AFTER);
    sockets = flag(property, SOCKETS, false);
    ports = Ports.read(property);
    sharesNamespaces = sharesNamespaces(property);
    rules = file(property, RULES);
    key = file(property, KEY);
    rendezvousOffset = (int) number(property, RENDEZVOUS_OFFSET, 10_000, 1, MAX_OFFSET);
    ucxBinding = binding(property);
    jucx = file(property, JUCX);
    jmx = flag(property, JMX, false);
    quiet = flag(property, QUIET, false);
  }

  /**
   * Reads the system properties.
   *
   * @throws IllegalArgumentException if one has a bad value or an unknown name; the message gives
   *     its name, its value and what is allowed
   */
  public static Config load() {
    Properties properties = System.getProperties();
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(PREFIX) && !KNOWN.contains(name) && !reserved(name)) {
        String nearest = Nearest.to(name, KNOWN);
        throw new IllegalArgumentException(
            "unknown property "
                + name
                + (nearest == null ? "" : ", did you mean " + nearest + "?")
                + "; known are "
                + String.join(", ", KNOWN));
      }
    }
    return new Config(properties::getProperty);
  }

  private static boolean reserved(String name) {
    return RESERVED.stream().anyMatch(name::startsWith);
  }

  /** {@value #ENABLED}. */
  public boolean enabled() {
    return enabled;
  }

  /** {@value #TRANSPORTS}, in order of preference. */
  public List<String> transports() {
    return transports;
  }

  /** {@value #DIR}. */
  public Path dir() {
    return dir;
  }

  /** {@value #SHM_DIR}. */
  public Path shmDir() {
    return shmDir;
  }

  /** {@value #RING_INITIAL}, in bytes, a power of two. */
  public int ringInitialBytes() {
    return ringInitialBytes;
  }

  /** {@value #RING_MAX}, in bytes, a power of two. */
  public int ringMaxBytes() {
    return ringMaxBytes;
  }

  /** {@value #SPIN_NS}, in nanoseconds. */
  public long spinNs() {
    return spinNs;
  }

  /** {@value #UPGRADE_AFTER}: a number of reads and writes; 0: at once. */
  public int upgradeAfter() {
    return upgradeAfter;
  }

  /** {@value #SOCKETS}. */
  public boolean sockets() {
    return sockets;
  }

  /** {@value #PORTS}, less {@value #PORTS_EXCEPT}. */
  public Ports ports() {
    return ports;
  }

  /** {@value #NAMESPACES}: whether it is {@code shared} and not {@code own}. */
  public boolean sharesNamespaces() {
    return sharesNamespaces;
  }

  /** {@value #RULES}; null: none, so nothing is asked of other hosts. */
  public Path rules() {
    return rules;
  }

  /** {@value #KEY}; null: none. */
  public Path key() {
    return key;
  }

  /** {@value #RENDEZVOUS_OFFSET}. */
  public int rendezvousOffset() {
    return rendezvousOffset;
  }

  /** {@value #UCX_BINDING}: {@code auto}, {@code ffm} or {@code jucx}. */
  public String ucxBinding() {
    return ucxBinding;
  }

  /** {@value #JUCX}; null: what is on the class path, if anything. */
  public Path jucx() {
    return jucx;
  }

  /** {@value #JMX}. */
  public boolean jmx() {
    return jmx;
  }

  /** {@value #QUIET}. */
  public boolean quiet() {
    return quiet;
  }

  private static List<String> transports(Function<String, String> property) {
    String value = property.apply(TRANSPORTS);
    if (value == null) {
      return TRANSPORTS_STANDARD;
    }
    List<String> names = new ArrayList<>();
    for (String part : value.split(",", -1)) {
      String name = part.trim();
      if (!TRANSPORT_NAMES.contains(name)) {
        throw invalid(
            TRANSPORTS, value, "a list, by commas, of " + String.join(", ", TRANSPORT_NAMES));
      }
      if (!names.contains(name)) {
        names.add(name);
      }
    }
    return List.copyOf(names);
  }

  private static String binding(Function<String, String> property) {
    String value = property.apply(UCX_BINDING);
    if (value == null) {
      return BINDING_NAMES.get(0);
    }
    if (!BINDING_NAMES.contains(value)) {
      throw invalid(UCX_BINDING, value, "one of " + String.join(", ", BINDING_NAMES));
    }
    return value;
  }

  private static boolean sharesNamespaces(Function<String, String> property) {
    String value = property.apply(NAMESPACES);
    if (value == null || value.equals(OWN)) {
      return false;
    }
    if (value.equals(SHARED)) {
      return true;
    }
    throw invalid(NAMESPACES, value, OWN + " or " + SHARED);
  }

  private static boolean flag(Function<String, String> property, String name, boolean standard) {
    String value = property.apply(name);
    if (value == null) {
      return standard;
    }
    if (value.equals("true") || value.isEmpty()) {
      return true;
    }
    if (value.equals("false")) {
      return false;
    }
    throw invalid(name, value, "true or false");
  }

  private static Path path(Function<String, String> property, String name, String standard) {
    String value = property.apply(name);
    try {
      Path path = Path.of(value == null ? standard : value);
      if (path.isAbsolute()) {
        return path;
      }
    } catch (InvalidPathException e) {
      // Refused below.
    }
    throw invalid(name, value, "an absolute path of a directory");
  }

  /** A file that need not be given. */
  private static Path file(Function<String, String> property, String name) {
    String value = property.apply(name);
    if (value == null || value.equals(NONE)) {
      return null;
    }
    try {
      Path path = Path.of(value);
      if (path.isAbsolute()) {
        return path;
      }
    } catch (InvalidPathException e) {
      // Refused below.
    }
    throw invalid(name, value, "an absolute path of a file, or " + NONE);
  }

  /** A directory of sockets, whose addresses have a bounded length. */
  private static Path socketPath(Function<String, String> property, String name, String standard) {
    Path path = path(property, name, standard);
    int lengthBytes = path.toString().getBytes(FILE_NAMES).length;
    if (lengthBytes > MAX_DIR_BYTES) {
      throw invalid(
          name,
          property.apply(name),
          "at most "
              + MAX_DIR_BYTES
              + " bytes long, because Unix-domain sockets are made in it; it has "
              + lengthBytes);
    }
    return path;
  }

  private static long number(
      Function<String, String> property, String name, long standard, long min, long max) {
    String value = property.apply(name);
    if (value == null) {
      return standard;
    }
    try {
      long number = Long.parseLong(value.trim());
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused below.
    }
    throw invalid(name, value, "a whole number from " + min + " to " + max);
  }

  private static int powerOfTwo(Function<String, String> property, String name, int standard) {
    String value = property.apply(name);
    if (value == null) {
      return standard;
    }
    try {
      int number = Integer.parseInt(value.trim());
      if (number >= MIN_RING && number <= MAX_RING && Integer.bitCount(number) == 1) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused below.
    }
    throw invalid(name, value, "a power of two from " + MIN_RING + " to " + MAX_RING + " (bytes)");
  }

  static IllegalArgumentException invalid(String name, String value, String allowed) {
    return new IllegalArgumentException(
        "property " + name + " is '" + value + "', it must be " + allowed);
  }

  @Override
  public String toString() {
    return String.join(
        " ",
        ENABLED + "=" + enabled,
        TRANSPORTS + "=" + String.join(",", transports),
        DIR + "=" + dir,
        SHM_DIR + "=" + shmDir,
        RING_INITIAL + "=" + ringInitialBytes,
        RING_MAX + "=" + ringMaxBytes,
        SPIN_NS + "=" + spinNs,
        UPGRADE_AFTER + "=" + upgradeAfter,
        SOCKETS + "=" + sockets,
        PORTS + "=" + ports.named(),
        PORTS_EXCEPT + "=" + ports.excepted(),
        NAMESPACES + "=" + (sharesNamespaces ? SHARED : OWN),
        RULES + "=" + (rules == null ? NONE : rules),
        KEY + "=" + (key == null ? NONE : key),
        RENDEZVOUS_OFFSET + "=" + rendezvousOffset,
        UCX_BINDING + "=" + ucxBinding,
        JUCX + "=" + (jucx == null ? NONE : jucx),
        JMX + "=" + jmx,
        QUIET + "=" + quiet);
  }
}
