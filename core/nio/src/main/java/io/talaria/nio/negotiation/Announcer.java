// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.PeerCredentials;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Announces this process's listeners, and makes sessions with the processes that dial them.
 * Negotiation thread, except where marked.
 */
final class Announcer {
  private static final int ACCEPTS_AT_ONCE = 64;

  private final NegotiationLoop loop;
  private final Reports reports;
  private final PrivateDirectory directory;
  private final LocalTransports transports;
  private final Negotiator negotiator;
  private final Set<Announcement> announcements = ConcurrentHashMap.newKeySet();

  private volatile Reason unusable;

  Announcer(Negotiator negotiator, PrivateDirectory directory) {
    this.negotiator = negotiator;
    this.directory = directory;
    loop = negotiator.loop();
    reports = negotiator.reports();
    transports = negotiator.transports();
  }

  NegotiationLoop loop() {
    return loop;
  }

  /** Why this process can accelerate nothing, as the last listener has found out; or null. */
  Reason unusable() {
    return unusable;
  }

  /**
   * Announces a listener. Any thread.
   *
   * @param outcome told what has become of it: again once transports that are starting have started
   */
  Announcement announce(InetSocketAddress address, Consumer<Reason> outcome) {
    Announcement announcement = new Announcement(this, address);
    announcements.add(announcement);
    if (!loop.started()) {
      outcome.accept(Reason.LIMIT); // so far
    }
    loop.isolate(
        "announcing " + address,
        () -> open(announcement, outcome),
        () -> outcome.accept(Reason.INTERNAL));
    return announcement;
  }

  /** Takes an announcement back. Any thread. */
  void retire(Announcement announcement) {
    announcement.removeFile();
    announcements.remove(announcement); // only now: an exit in between removes the file
    loop.execute(announcement::close);
  }

  /** Whether a connection may have come to a listener of this process that is open. */
  boolean covers(ConnectionKey connection) {
    return announcements.stream().anyMatch(each -> !each.retired() && each.covers(connection));
  }

  /** For process exit. Any thread. */
  void removeFiles() {
    directory.close();
    announcements.forEach(Announcement::removeFile);
  }

  private void open(Announcement announcement, Consumer<Reason> outcome) {
    boolean starting = transports.starting();
    Reason unusable = PeerCredentials.known() ? directory.prepare() : Reason.NO_JDK_NET;
    if (unusable == null && !starting) {
      unusable = transports.unusable();
    }
    know(unusable);
    if (unusable == null) {
      try {
        directory.create(
            () -> {
              announcement.open(loop, directory.path());
              return announcement;
            });
      } catch (IOException | RuntimeException e) {
        unusable = reports.directoryOrLimit("cannot announce a listener in " + directory.path(), e);
        if (unusable == Reason.LIMIT) {
          loop.later(() -> openUnlessRetired(announcement, outcome));
        }
      }
    }
    outcome.accept(unusable == null ? Reason.ANNOUNCED : unusable);
    if (unusable == null) {
      if (starting) { // so that clients find it, and wait
        loop.repeat(
            () -> !transports.starting() && opened(announcement, outcome),
            () -> outcome.accept(Reason.INTERNAL));
      } else {
        announcement.listen();
      }
    }
  }

  /** Tells the channels that have been accepted before, too. */
  private void know(Reason reason) {
    unusable = reason;
    if (reason != null) {
      negotiator.matcher().unusable(reason);
    }
  }

  private void openUnlessRetired(Announcement announcement, Consumer<Reason> outcome) {
    if (!announcement.retired()) {
      open(announcement, outcome);
    }
  }

  private boolean opened(Announcement announcement, Consumer<Reason> outcome) {
    Reason unusable = transports.unusable();
    know(unusable);
    if (unusable == null) {
      announcement.listen();
      outcome.accept(Reason.ANNOUNCED); // the preferred transport may have turned out to be missing
    } else {
      announcement.close();
      announcements.remove(announcement);
      outcome.accept(unusable);
    }
    return true;
  }

  /** Takes the connections of the processes that have dialled an announcement. */
  void accept(Announcement announcement) {
    try {
      for (int i = 0; i < ACCEPTS_AT_ONCE; i++) { // the selector brings us back for the rest
        SocketChannel dialler = announcement.accept();
        if (dialler == null) {
          break;
        }
        accept(announcement, dialler);
      }
    } catch (IOException e) {
      reports.report(Reason.LIMIT, "cannot accept a session: " + e);
      announcement.pause(loop);
    }
  }

  private void accept(Announcement announcement, SocketChannel dialler) {
    try {
      if (PeerCredentials.sameUser(dialler, directory.path())) {
        negotiator.sessions().add(new Session(negotiator, dialler, announcement, null));
        return;
      }
      negotiator.counters().refused(Reason.OTHER_USER);
    } catch (IOException e) {
      reports.report(Reason.NO_RUNTIME_DIR, "cannot find out which user has connected: " + e);
    }
    Sessions.closeQuietly(dialler);
  }
}
