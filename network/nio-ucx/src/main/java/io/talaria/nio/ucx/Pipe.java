// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.Received;

/**
 * An endpoint: the way out of one stream, and the way in of whichever stream the peer names in its
 * first bytes, because UCX pairs endpoints in the order of their creation. An engine's.
 *
 * <p><b>Its end.</b> It is closed when both streams are over, at both ends. What was sent may be
 * under way even so, because UCX completes it earlier; but no program reads it. So it is closed by
 * force, at which UCX gives up what is under way. It has to be: once the peer's end is connected to
 * it, UCX 1.13 keeps an endpoint that is closed otherwise, and its two mappings of shared memory or
 * its socket, until the worker is closed ({@code ClosedEndpointsTest} of the module {@code ucx}
 * counts them). A peer whose session has ended before it said that it is over may read still: what
 * was sent has to arrive first then.
 */
final class Pipe {
  private static final int TOKEN_BYTES = 8;

  final Engine engine;
  private final BoundEndpoint endpoint;
  private final UcxStream out;
  private final boolean ofThisHost;

  /** Null: not known yet, or over when it became known. */
  private UcxStream in;

  private int headBytes;
  private long head;
  private boolean peerGone;
  private boolean leaving;
  private boolean flushed;
  private boolean closing;

  /** Of the flush before the close, or of the close; 0: none. */
  private long request;

  /** How many small messages UCX has not sent yet. */
  private int notesUnderWay;

  /** Opens the endpoint. */
  Pipe(Engine engine, byte[] address, UcxStream out) {
    this.engine = engine;
    this.out = out;
    ofThisHost = !out.peer().betweenHosts();
    endpoint = engine.connect(address, this);
  }

  BoundEndpoint endpoint() {
    return endpoint;
  }

  /** The peer at the other end. */
  UcxPeer peer() {
    return out.peer();
  }

  /** The bytes that came made no sense, in a way that no check has foreseen. */
  void breach(RuntimeException e) {
    try {
      out.lost(e);
    } finally {
      if (in != null) {
        in.lost(e);
      }
    }
  }

  /** Bytes that came could not be taken over: the stream that lacks them must not go on. */
  void lost(Error e) {
    if (in != null) {
      in.lost(e);
    } else if (headBytes < TOKEN_BYTES) {
      out.lost(e); // usually it is the same stream
    }
  }

  /** Takes over what has come. */
  void drain(Received chunk) {
    long length;
    while (endpoint.isOpen() && (length = endpoint.receiveStream(chunk)) > 0) {
      try {
        take(chunk, (int) length);
      } finally {
        chunk.release();
      }
    }
  }

  private void take(Received chunk, int length) {
    if (ofThisHost) {
      engine.arrivedFromHost();
    }
    int at = 0;
    while (headBytes < UcxMessages.HEAD_BYTES && at < length) {
      head = (head << Byte.SIZE) | Byte.toUnsignedInt(chunk.byteAt(at++));
      headBytes++;
      if (headBytes == TOKEN_BYTES) {
        UcxStream named = engine.streams().find(head);
        if (named != null && named.comesBy(this)) {
          in = named;
        } else {
          lookWhetherOver(); // no other call does, if the way out is over already
        }
      } else if (headBytes == UcxMessages.HEAD_BYTES && in != null) {
        in.peerSwitched(head);
      }
    }
    if (at < length && in != null) {
      in.receive(chunk, at, length - at);
    }
  }

  /** The peer process has ended: nothing will come any more. */
  void peerGone() {
    peerGone = true;
    lookWhetherOver();
  }

  /** One of the streams may be over. */
  void lookWhetherOver() {
    boolean inOver = headBytes >= TOKEN_BYTES ? in == null || in.over() : peerGone;
    if (!leaving && out.over() && inOver) {
      leaving = true;
      engine.leaving(this);
    }
  }

  void noteUnderWay() {
    notesUnderWay++;
  }

  void noteDone() {
    notesUnderWay--;
    out.someSent();
  }

  void noteFailed() {
    out.noteFailed();
  }

  /** Whether UCX is not done with something that was sent by it. */
  boolean sending() {
    return notesUnderWay > 0 || out.sending();
  }

  /**
   * Moves the close along.
   *
   * @return whether UCX is done with the endpoint
   */
  boolean close() {
    if (!closing) {
      if (sending()) {
        return false; // UCX 1.13 may crash when it is closed with operations under way
      }
      if (peerGone && !flushed) {
        request = out.mayBeUnderWay() ? endpoint.flush() : 0;
        flushed = true; // not before: if memory is short, it is tried again
      }
      if (!requestDone()) {
        return false;
      }
      request = endpoint.closeForced();
      closing = true; // as above
    }
    return requestDone();
  }

  private boolean requestDone() {
    if (request > 0 && engine.worker().poll(request) == BoundWorker.IN_PROGRESS) {
      return false;
    }
    request = 0;
    return true;
  }

  /** UCX is done with the endpoint. */
  void closed() {
    out.wayClosed();
  }
}
