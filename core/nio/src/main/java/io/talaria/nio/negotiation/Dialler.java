// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.PeerCredentials;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds the announcements of this host's listeners and dials them. Negotiation thread. */
final class Dialler {
  private static final long NEVER = -1;

  private final Negotiator negotiator;
  private final Reports reports;
  private final PrivateDirectory directory;

  /** What was found last, of which port, and in which turn of the thread. */
  private List<String> known = List.of();

  private int knownPort;
  private long knownIn = NEVER;

  Dialler(Negotiator negotiator, PrivateDirectory directory) {
    this.negotiator = negotiator;
    this.directory = directory;
    reports = negotiator.reports();
  }

  /**
   * Names of the announcements of a port.
   *
   * @throws TransportException if this process has no descriptor to look with
   */
  List<String> candidates(int port) throws TransportException {
    List<String> names = new ArrayList<>();
    String prefix = Announcement.namePrefix(port);
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(
            directory.path(), file -> file.getFileName().toString().startsWith(prefix))) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    } catch (IOException | RuntimeException e) {
      String what = "cannot read " + directory.path();
      if (reports.directoryOrLimit(what, e) == Reason.LIMIT) {
        throw new TransportException(Reason.LIMIT, what, e);
      }
    }
    return names;
  }

  /**
   * The same, looked up once a turn of the thread if there are any: many connections may ask.
   *
   * @throws TransportException if this process has no descriptor to look with
   */
  List<String> known(int port) throws TransportException {
    long turn = negotiator.loop().turnNumber();
    if (turn != knownIn || port != knownPort) {
      known = candidates(port);
      knownPort = port;
      knownIn = known.isEmpty() ? NEVER : turn;
    }
    return known;
  }

  /**
   * The session with an announcement for a transport, new or standing; null if no peer is there.
   *
   * @throws TransportException if the peer is there but cannot be reached by the transport
   */
  Session dial(String name, TransportProvider transport) throws TransportException {
    String which = name + ' ' + transport.name();
    Session standing = negotiator.sessions().standing(which);
    if (standing != null) {
      return standing;
    }
    Path path = directory.path().resolve(name);
    SocketChannel channel = null;
    Session session;
    try {
      channel = negotiator.loop().jdk().openSocketChannel(StandardProtocolFamily.UNIX);
      channel.configureBlocking(false);
      if (!channel.connect(UnixDomainSocketAddress.of(path))
          || !PeerCredentials.sameUser(channel, directory.path())) {
        channel.close();
        return null;
      }
      session = new Session(negotiator, channel, which, transport, null);
      negotiator.sessions().add(session);
    } catch (IOException e) {
      if (channel == null) {
        String what = "no socket to reach a listener: " + e;
        reports.report(Reason.LIMIT, what);
        throw new TransportException(Reason.LIMIT, what, e);
      }
      Sessions.closeQuietly(channel);
      removeStale(path, e);
      return null;
    }
    negotiator.sessions().begin(session);
    return session;
  }

  /** Whether an announcement, of which there is a session, still has its name. */
  boolean stillAnnounced(Session dialledThere) {
    String which = dialledThere.dialled();
    return Files.exists(directory.path().resolve(which.substring(0, which.indexOf(' '))));
  }

  /** A name that refuses belongs to no process: it is given only to sockets that listen. */
  private void removeStale(Path path, IOException refusal) {
    knownIn = NEVER;
    if (refusal instanceof ConnectException) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        // Tried again by the next client.
      }
    }
  }
}
