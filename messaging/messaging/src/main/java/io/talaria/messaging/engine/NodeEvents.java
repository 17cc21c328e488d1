// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.NodeListener;
import io.talaria.messaging.Peer;
import io.talaria.messaging.counters.Counts;
import io.talaria.messaging.dispatch.Thrown;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Counts the events of a node, and reports them to its listeners or to the log. A method returns
 * when all listeners have returned, and never throws. Any thread.
 */
public final class NodeEvents {
  private static final System.Logger LOG = System.getLogger("io.talaria.messaging");

  private final int id;
  private final BooleanSupplier closing;
  private final Counts counts;
  private final List<NodeListener> listeners = new CopyOnWriteArrayList<>();

  /**
   * Of a node without listeners.
   *
   * @param id the node's
   * @param closing whether the node is closing; then failures are no news
   */
  public NodeEvents(int id, BooleanSupplier closing, Counts counts) {
    this.id = id;
    this.closing = closing;
    this.counts = counts;
  }

  /** Adds a listener, for all events from now on. */
  public void listen(NodeListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
  }

  public void connected(Connection connection) {
    counts.connected();
    tell(
        each ->
            each.connected(
                connection.peer, connection.link().transport(), connection.link().reason()));
  }

  /** Reports a lost connection, which {@link ConnectionOwner#removed} has counted. */
  public void lost(Peer peer, String reason, long unacknowledgedBytes) {
    tell(each -> each.lost(peer, reason, unacknowledgedBytes));
  }

  public void unreachable(Peer peer, String reason) {
    tell(each -> each.unreachable(peer, reason));
  }

  public void stalled(Peer peer, String type, String thread, long openNs) {
    counts.stalled();
    tell(each -> each.stalled(peer, type, thread, openNs));
  }

  public void suspect(Peer peer, long silentNs) {
    tell(each -> each.suspect(peer, silentNs));
  }

  void dropped(Peer peer, String type, String why) {
    counts.dropped();
    tell(each -> each.dropped(peer, type, why));
  }

  /** The program's code has thrown. */
  public void failed(Peer peer, String type, Throwable thrown) {
    counts.failed();
    tell(each -> each.failed(peer, type, thrown));
  }

  private void tell(Consumer<NodeListener> news) {
    for (NodeListener each : listeners) {
      try {
        news.accept(each);
      } catch (Throwable e) { // the program's: must not end this thread
        internal("a listener", e);
      }
    }
  }

  /** Logs the state of a silent connection: which threads sleep, and which were woken. */
  public void quiet(Connection connection, long silentNs) {
    LOG.log(
        System.Logger.Level.INFO,
        () ->
            "node "
                + id
                + " has heard nothing of "
                + connection.peer
                + " for "
                + silentNs / 1_000_000
                + " ms; "
                + connection.state());
  }

  /** Logs an unexpected throwable. */
  public void internal(String where, Throwable thrown) {
    if (closing.getAsBoolean()) {
      return;
    }
    try {
      LOG.log(
          System.Logger.Level.WARNING,
          "node " + id + ", " + where + ": " + Thrown.text(thrown),
          thrown);
    } catch (Throwable e) { // by the throwable itself, by the program's logger, or no memory
      try {
        LOG.log(System.Logger.Level.WARNING, thrown.getClass().getName());
      } catch (Throwable again) {
        // Not even the class's name can be logged.
      }
    }
  }
}
