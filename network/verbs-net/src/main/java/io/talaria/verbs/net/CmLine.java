// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.VerbsException;
import io.talaria.verbs.cm.ConnectionEvent;
import io.talaria.verbs.cm.ConnectionId;
import java.lang.System.Logger.Level;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** An identifier of RDMA CM: what it is told during the handshake, and later the life line. */
final class CmLine implements Life {
  /** Instead of an event: the node is being closed. */
  static final ConnectionEvent END =
      new ConnectionEvent(ConnectionEvent.Type.OTHER, null, null, 0, new byte[0], 0, 0, 0, 0);

  final ConnectionId id;
  private final CmConnector connector;
  private final LinkedBlockingQueue<ConnectionEvent> events = new LinkedBlockingQueue<>();

  /** Guarded by this. */
  private Connection connection;

  /** The peer has disconnected. Guarded by this. */
  private boolean ended;

  CmLine(CmConnector connector, ConnectionId id) {
    this.connector = connector;
    this.id = id;
  }

  /** Something has happened to it; by the thread that takes events. */
  void told(ConnectionEvent event) {
    if (event.type() == ConnectionEvent.Type.DISCONNECTED) {
      Connection open;
      synchronized (this) {
        ended = true;
        open = connection;
      }
      if (open != null) {
        open.lifeEnded("the peer has closed the connection or is gone");
      }
    }
    events.add(event);
  }

  /** The handshake has come so far that there is a connection. */
  void attach(Connection made) {
    boolean over;
    synchronized (this) {
      connection = made;
      over = ended;
    }
    if (over) {
      made.lifeEnded("the peer has closed the connection or is gone");
    }
  }

  synchronized boolean isAttached() {
    return connection != null;
  }

  /**
   * Waits for the next event, which is to be of a type.
   *
   * @throws ExchangeException if it is another one, or time is over; the message says which
   */
  ConnectionEvent await(ConnectionEvent.Type type, long endNs) throws ExchangeException {
    ConnectionEvent event;
    try {
      event = events.poll(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ExchangeException("interrupted while RDMA CM was to connect", e);
    }
    if (event == null) {
      throw new ExchangeException(connector.tooLate());
    }
    if (event == END) {
      throw new ExchangeException("the node is closed");
    }
    if (event.type() != type) {
      throw new ExchangeException(explained(event));
    }
    return event;
  }

  static String explained(ConnectionEvent event) {
    if (event.type() == ConnectionEvent.Type.REJECTED) {
      byte[] data = event.privateData();
      // What did not come from a node begins with something else.
      return data.length > 4 && data[0] == CmFrame.VERSION && data[1] == CmFrame.REFUSAL
          ? "the peer refuses: " + CmFrame.words(data)
          : "RDMA CM rejected the connection with reason "
              + event.status()
              + ": no RDMA CM listener at this address, or it is not a node";
    }
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      return "unexpected connection request";
    }
    return "RDMA CM says " + event.type() + (event.status() == 0 ? "" : " " + event.status());
  }

  /** The peer is asked to go; its answer is not waited for: closing the identifier is enough. */
  @Override
  public void end() {
    try {
      id.disconnect();
    } catch (VerbsException e) {
      // It has gone before.
      NetThread.LOG.log(Level.DEBUG, "disconnecting by RDMA CM", e);
    }
  }

  @Override
  public void release() {
    connector.close(this);
  }
}
