// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

/**
 * Why a connection is in its {@link NioTransport}: the whole catalogue.
 *
 * <p>Codes and numbers never change their meaning; new reasons get new ones. Number 15 is free.
 * They appear in the log, in Flight Recorder events, in JMX and in the counters file.
 */
public enum Reason {
  /** The upgrade is being negotiated; bytes travel on TCP meanwhile. */
  PENDING(
      1,
      "negotiating",
      "The upgrade is being negotiated; bytes travel on TCP meanwhile.",
      "Nothing to do: it is decided within moments."),
  /** Both ends run Talaria on this host and share memory. */
  SAME_HOST(
      2, "same-host", "Both ends run Talaria on this host and share memory.", "Nothing to do."),
  /** The listener has announced itself to the clients of this host. */
  ANNOUNCED(
      3,
      "announced",
      "The listener has announced itself to the clients of this host.",
      "Nothing to do."),
  /** No process of this user announces the port here: the peer's listener is none of Talaria's. */
  PEER_NOT_ACCELERATED(
      4,
      "peer-not-accelerated",
      "No process of this user announces the port here: the peer runs without"
          + " Talaria, listens by java.net.ServerSocket, by an asynchronous channel or by"
          + " a native transport (epoll), runs as another user or with another"
          + " talaria.dir, or leaves the port out.",
      "Start the peer with the agent, as the same user, with the same talaria.dir"
          + " and talaria.ports; with talaria.sockets=true if it uses"
          + " java.net.ServerSocket, and by NIO if it uses epoll."),
  /** The peer is on another host, and no transport between hosts is configured. */
  NOT_LOCAL(
      5,
      "remote-host",
      "The peer is on another host, and no transport between hosts is configured.",
      "Nothing to do, or set talaria.rules and talaria.key: see docs/hosts.md; for another container"
          + " of this host, talaria.namespaces=shared in both: see docs/configuration.md."),
  /** The client never asked for an upgrade: it runs without Talaria, or comes from elsewhere. */
  NO_OFFER(
      6,
      "no-offer",
      "The client never asked for an upgrade: it runs without Talaria, connects by"
          + " java.net.Socket, by an asynchronous channel or by a native transport"
          + " (epoll), runs as another user or with another talaria.dir, leaves the port"
          + " out, has not carried as much yet as its talaria.upgrade.after says, or comes from"
          + " elsewhere.",
      "Start the client with the agent, as the same user, with the same talaria.dir"
          + " and talaria.ports; with talaria.sockets=true if it uses java.net.Socket,"
          + " and by NIO if it uses epoll."),
  /**
   * The listener never accepted a connection with these addresses: a forwarder or proxy stands
   * between, or another program shares the port.
   */
  NOT_MATCHED(
      7,
      "not-matched",
      "The listener never accepted a connection with these addresses: a forwarder or proxy stands"
          + " between, or another program shares the port.",
      "Connect to the server's own address and port instead of the forwarder's."),
  /** The peer is in another network namespace of this host. */
  OTHER_NAMESPACE(
      8,
      "other-namespace",
      "The peer is in another network namespace of this host.",
      "Run both in one network namespace (the same pod, or host networking), or set"
          + " talaria.namespaces=shared in both: see docs/configuration.md."),
  /** The peer reports another boot id: it runs on another kernel. */
  OTHER_BOOT(
      9,
      "other-boot",
      "The peer reports another boot id: it runs on another kernel.",
      "Do not share the run-time directory between machines; set talaria.dir to a local one."),
  /** The peer belongs to another user. */
  OTHER_USER(
      10,
      "other-user",
      "The peer belongs to another user.",
      "Run both processes as the same user."),
  /** The peer speaks another version of the negotiation or of the ring. */
  VERSION_MISMATCH(
      11,
      "version-mismatch",
      "The peer speaks another version of the negotiation or of the ring.",
      "Use the same Talaria release on both sides."),
  /** The peer declined the upgrade. */
  REFUSED(
      12,
      "refused",
      "The peer declined the upgrade.",
      "Look at the reason the peer shows for the same connection."),
  /** The peer did not answer the offer in time. */
  TIMED_OUT(
      13,
      "timed-out",
      "The peer did not answer the offer in time.",
      "Check whether the peer is stopped or overloaded; new connections ask again."),
  /** Too many upgrades were being negotiated at once, or the peer did not read its session. */
  BUSY(
      14,
      "busy",
      "Too many upgrades were being negotiated at once, or the peer did not read its session.",
      "Check whether the peer is stopped or overloaded; later connections ask again."),
  /** The run-time directory is missing and could not be created. */
  NO_RUNTIME_DIR(
      16,
      "no-runtime-dir",
      "The run-time directory is missing and could not be created.",
      "Set talaria.dir to a directory that this user can create or write."),
  /** The run-time or shared-memory directory belongs to another user or is open to others. */
  INSECURE_DIR(
      17,
      "insecure-dir",
      "The run-time or shared-memory directory belongs to another user or is open to others.",
      "Remove it, or make it this user's with mode 0700, or set talaria.dir and talaria.shm.dir"
          + " elsewhere."),
  /** The shared-memory directory is missing, read-only or could not be created. */
  NO_SHM_DIR(
      18,
      "no-shm-dir",
      "The shared-memory directory is missing, read-only or could not be created.",
      "Mount a writable tmpfs on /dev/shm, or set talaria.shm.dir to a directory on one."),
  /** The shared-memory file system has no space for the rings. */
  SHM_FULL(
      19,
      "shm-full",
      "The shared-memory file system has no space for the rings.",
      "Enlarge /dev/shm (in a container: --shm-size), or lower talaria.shm.ring.initial."),
  /** The rings could not be mapped into memory. */
  MAP_FAILED(
      20,
      "map-failed",
      "The rings could not be mapped into memory.",
      "Raise vm.max_map_count or the process's address-space limit."),
  /** A limit of this process is reached: connections, descriptors or memory. */
  LIMIT(
      21,
      "limit",
      "A limit of this process is reached: connections, descriptors or memory.",
      "Raise the open-file limit (ulimit -n) or the talaria.* limit in the log."),
  /** The connection ended before the upgrade was done. */
  CLOSED_EARLY(
      22,
      "closed-early",
      "The connection ended before the upgrade was done.",
      "Nothing to do: short connections are well served by TCP."),
  /** The peer sent an invalid message in the negotiation. */
  PROTOCOL(
      23,
      "protocol-error",
      "The peer sent an invalid message in the negotiation.",
      "Use the same Talaria release on both sides; if it is the same, report a defect."),
  /** The peer died, or went away during the negotiation. */
  PEER_LOST(
      24,
      "peer-lost",
      "The peer died, or went away during the negotiation.",
      "Look why the peer process ended."),
  /** Something inside Talaria failed; the connection stays on TCP. */
  INTERNAL(
      25,
      "internal-error",
      "Something inside Talaria failed; the connection stays on TCP.",
      "See the log for the cause and report a defect."),
  /** The ucx transport is asked for and cannot be used in this process. */
  NO_UCX(
      26,
      "no-ucx",
      "The ucx transport is asked for and cannot be used in this process.",
      "Do what ss, doctor and the log say for the process: install UCX or, before Java 25, JUCX, or"
          + " export what UCX reads from the environment."),
  /** Both ends run Talaria on two hosts, and a fast network joins them. */
  BETWEEN_HOSTS(
      27,
      "between-hosts",
      "Both ends run Talaria on two hosts, and a fast network joins them.",
      "Nothing to do."),
  /** The peer is on another host, and no rule names it. */
  NO_RULE(
      28,
      "no-rule",
      "The peer is on another host, and no rule names it.",
      "Add a connect rule for the peer's address and port to the file of talaria.rules."),
  /** Rules for other hosts are given, and they or the key cannot be used. */
  HOSTS_OFF(
      29,
      "hosts-off",
      "Rules for other hosts are given, and they or the key cannot be used.",
      "The log names the file, the line and what is wrong with it."),
  /** Nothing answers at the rendezvous port beside the service's port. */
  NO_RENDEZVOUS(
      30,
      "no-rendezvous",
      "Nothing answers at the rendezvous port beside the service's port.",
      "Start the server with a bind rule for its port, let the rendezvous port through firewalls,"
          + " and use one talaria.rendezvous.offset on both sides."),
  /** The other side of a rendezvous does not prove that it has the key. */
  NOT_AUTHENTICATED(
      31,
      "not-authenticated",
      "The other side of a rendezvous does not prove that it has the key for these addresses.",
      "Give both sides the same key file; connections whose addresses are translated on the way"
          + " stay on TCP."),
  /** UCX would reach the peer by TCP only, which gains nothing. */
  UCX_TCP_ONLY(
      32,
      "ucx-tcp-only",
      "UCX would reach the peer by TCP only, which gains nothing.",
      "Look with ucx_info -d whether UCX finds the network card; set UCX_NET_DEVICES if it chooses"
          + " the wrong one."),
  /** The peer's shared memory is not in this process's directory. */
  OTHER_SHM_DIR(
      33,
      "other-shm-dir",
      "The two sides look for shared memory in different places: what the one makes, the other does"
          + " not find.",
      "Give both the same talaria.shm.dir on the same tmpfs; containers: mount one volume, on memory,"
          + " into both, or share /dev/shm."),
  /** This Java's run-time image lacks the module that tells who a peer is. */
  NO_JDK_NET(
      34,
      "no-jdk-net",
      "This Java has no module jdk.net, which tells other users apart.",
      "Add jdk.net to the run-time image of both sides (jlink --add-modules)."),
  /** The properties of this process leave the service's port to TCP. */
  PORT_LEFT_OUT(
      35,
      "port-left-out",
      "This process leaves the service's port to TCP: talaria.ports does not name it, or"
          + " talaria.ports.except does.",
      "Nothing to do, or change talaria.ports and talaria.ports.except, on both sides."),

  /** There is no usable {@code /proc}. */
  NO_PROC(
      36,
      "no-proc",
      "This process cannot read /proc, without which it knows neither its own user id nor which"
          + " processes live.",
      "Mount /proc where the process runs (mount -t proc proc /proc), readable for its user."),

  /** A listener of another network namespace may be the peer, and that is not proved. */
  NOT_DIRECT(
      37,
      "not-direct",
      "A process in another network namespace of this host announces the port, and it is not proved"
          + " that it has the other end of this connection: a router, a proxy or a translation of"
          + " addresses stands between, or the connection goes elsewhere.",
      "Join both namespaces to one bridge, connect to the server's own IPv4 address and port, and let"
          + " UDP pass between the two addresses; debug messages of io.talaria.nio say what is"
          + " missing."),

  /** A client connection that has not carried enough for an upgrade to be sought. */
  NOT_EARNED(
      38,
      "not-earned",
      "The client requests the upgrade once TCP has carried as many reads and writes of it as"
          + " talaria.upgrade.after says, and these are not reached yet.",
      "Nothing to do, or set talaria.upgrade.after=0 for the client: it then requests the upgrade at"
          + " once.");

  private static final Reason[] VALUES = values();

  private final int number;
  private final String code;
  private final String sentence;
  private final String hint;

  Reason(int number, String code, String sentence, String hint) {
    this.number = number;
    this.code = code;
    this.sentence = sentence;
    this.hint = hint;
  }

  /**
   * The number that stands for this reason in binary layouts; it never changes.
   *
   * @return a number from 1 to 63
   */
  public int number() {
    return number;
  }

  /**
   * The name used in logs, tables and JSON; it never changes.
   *
   * @return words in lower case joined by hyphens
   */
  public String code() {
    return code;
  }

  /**
   * What happened, for people.
   *
   * @return one or two sentences
   */
  public String sentence() {
    return sentence;
  }

  /**
   * What to do about it, for people.
   *
   * @return one or two sentences
   */
  public String hint() {
    return hint;
  }

  /**
   * Finds a reason by its number.
   *
   * @param number as {@link #number()} gives it
   * @return the reason, or null if this version knows none of that number
   */
  public static Reason ofNumber(int number) {
    for (Reason reason : VALUES) {
      if (reason.number == number) {
        return reason;
      }
    }
    return null;
  }

  /**
   * Finds a reason by its code.
   *
   * @param code as {@link #code()} gives it
   * @return the reason, or null if there is none of that code
   */
  public static Reason ofCode(String code) {
    for (Reason reason : VALUES) {
      if (reason.code.equals(code)) {
        return reason;
      }
    }
    return null;
  }
}
