// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** The end that connects, asks one request after the other, and ends the connection at last. */
final class Asker extends End {
  private static final int SMALL = 200;
  private static final int BLOCKING_BYTES = 20_000;
  private static final int NO_BYTES = -1;

  private final int maxBytes;
  private ByteBuffer request;
  private ByteBuffer answer;
  private int left;

  /** Where it is registered while it connects. */
  private Loop connecting;

  /** Whether it is registered before it begins to connect: so it is found ready too early. */
  private volatile boolean registersFirst;

  /** That registration; null if there is none. Guarded by the monitor. */
  private SelectionKey early;

  private int peerPort;

  /** Nothing more is asked: the peer's end must come. */
  private boolean leaving;

  Asker(Node node, SocketChannel channel, long seed, int maxBytes) {
    super(node, channel, seed);
    this.maxBytes = maxBytes;
    double magnitude = node.quiet() ? 2 * chance.nextDouble() : 1 + 3 * chance.nextDouble();
    this.left = 1 + (int) Math.pow(10, magnitude);
    this.id = node.nextConnection();
  }

  /** Connects, in any of the ways. On a worker. */
  void connect(InetSocketAddress peer) {
    peerPort = peer.getPort();
    expect("to be connected");
    try {
      boolean blocking = chance.nextInt(3) == 0;
      channel.configureBlocking(blocking);
      if (!blocking && chance.nextInt(3) == 0) {
        connectRegistered(peer);
        return;
      }
      if (channel.connect(peer)) {
        connected(blocking);
        return;
      }
      Loop loop = node.anyLoop(chance);
      loop.execute(() -> awaitConnected(loop));
    } catch (IOException e) {
      refused();
    }
  }

  /** As JGroups does: a selector knows it first, and finishes what this thread may finish, too. */
  private void connectRegistered(InetSocketAddress peer) throws IOException {
    Loop loop = node.anyLoop(chance);
    registersFirst = true;
    synchronized (this) {
      connecting = loop;
      try {
        early = channel.register(loop.selector(), SelectionKey.OP_CONNECT, this);
      } catch (java.nio.channels.ClosedSelectorException e) {
        loop.execute(() -> awaitConnected(loop));
      }
    }
    if (channel.connect(peer) || channel.finishConnect()) {
      connected(false);
    }
  }

  private synchronized void awaitConnected(Loop loop) {
    if (phase != Phase.CONNECTING) {
      return;
    }
    try {
      connecting = loop;
      channel.register(loop.selector(), SelectionKey.OP_CONNECT, this);
    } catch (java.nio.channels.ClosedSelectorException e) {
      loop.execute(() -> awaitConnected(loop));
    } catch (IOException e) {
      refused();
    }
  }

  @Override
  synchronized void reregister(Loop loop) {
    if (phase == Phase.CONNECTING && loop == connecting) {
      awaitConnected(loop);
    } else {
      super.reregister(loop);
    }
  }

  @Override
  public void ready(SelectionKey key) {
    if (phase != Phase.CONNECTING) {
      super.ready(key);
      return;
    }
    try {
      if (channel.finishConnect()) {
        key.cancel();
        connected(false);
      } else if (!registersFirst) {
        throw new IllegalStateException("connectable, and not connected");
      }
    } catch (NoConnectionPendingException e) {
      if (!registersFirst) {
        throw e;
      }
    } catch (IOException e) {
      refused();
    }
  }

  private synchronized void refused() {
    if (phase == Phase.CONNECTING) {
      node.refused();
      end();
    }
  }

  private void connected(boolean blocking) throws IOException {
    synchronized (this) {
      if (phase != Phase.CONNECTING) {
        return; // the other of the two threads was first
      }
      if (early != null) {
        early.cancel();
      }
      met();
      node.connected();
      if (blocking && !node.quiet() && chance.nextBoolean()) {
        block();
        return;
      }
      channel.configureBlocking(false);
      register();
    }
  }

  @Override
  void settled() {
    askLater();
  }

  private void askLater() {
    if (node.quiet()) {
      node.turns.done(this);
      node.later(node.anyDelayUs(), () -> node.turns.want(this, this::ask));
    } else {
      node.later(node.anyDelayUs(), this::ask);
    }
  }

  /** Writes from a worker, while the selector's thread may sleep. */
  private void ask() {
    synchronized (this) {
      if (phase != Phase.SELECTED || !idle()) {
        node.turns.done(this);
        return;
      }
      begin();
      if (leaving && request == null) {
        node.turns.done(this);
      }
    }
    serve();
  }

  /** Makes the next request, or the end. */
  private synchronized void begin() {
    if (--left > 0 && !node.stopping()) {
      make((byte) 0);
      return;
    }
    switch (chance.nextInt(5)) {
      case 0 -> {
        endHere();
        make(Frame.BYE);
        leaving = true;
      }
      case 1 -> shutdownAndAwait();
      case 2 -> shutdown(true, true);
      case 3 -> close(chance.nextInt(4) == 0);
      default -> close(false);
    }
  }

  private void shutdownAndAwait() {
    shutdown(true, false);
    leaving = true;
    expect("the end of the stream after shutdownOutput");
  }

  private void make(byte flags) {
    int limit = phase == Phase.BLOCKING ? Math.min(maxBytes, BLOCKING_BYTES) : maxBytes;
    int bytes =
        chance.nextInt(8) == 0
            ? (int) Math.pow(limit, chance.nextDouble())
            : chance.nextInt(Math.min(SMALL, limit));
    request = Frame.make(chance, id, flags, bytes);
    answer = Frame.allocate(chance, request.capacity());
    expect("the answer to " + request.capacity() + " bytes");
  }

  @Override
  boolean idle() {
    return request == null && !leaving;
  }

  @Override
  synchronized int wanted() {
    return SelectionKey.OP_READ
        | (request != null && request.hasRemaining() ? SelectionKey.OP_WRITE : 0);
  }

  @Override
  boolean pump() throws IOException {
    for (int turns = 1 + chance.nextInt(8); turns > 0; turns--) {
      if (request != null && request.hasRemaining()) {
        node.moved(channel.write(request));
      }
      int read = channel.read(answer == null ? ByteBuffer.allocate(1) : answer);
      if (read < 0) {
        return false;
      }
      if (read > 0 && answer == null) {
        throw new IllegalStateException("bytes that nobody asked for: " + this);
      }
      if (answer != null && !answer.hasRemaining()) {
        answered();
        if (leaving && chance.nextBoolean()) {
          close(false);
        } else if (leaving) {
          expect("the end of the stream after the last answer");
          node.turns.done(this);
        } else if (!node.quiet() && chance.nextBoolean()) {
          begin();
        } else {
          askLater();
          return true;
        }
      } else if (read == 0) {
        break;
      }
    }
    return phase == Phase.SELECTED;
  }

  private void answered() {
    if (!Frame.same(request, answer)) {
      throw new IllegalStateException("a wrong answer: " + this);
    }
    node.answered(System.nanoTime() - awaitsSinceNs, awaitsSinceNs);
    request = null;
    answer = null;
    met();
  }

  // ---- as a blocking channel

  @Override
  void live(int requests) throws IOException {
    boolean streams = chance.nextInt(3) == 0;
    for (int i = 0; i < requests && phase == Phase.BLOCKING; i++) {
      synchronized (this) {
        if (!leaving) {
          begin();
        }
      }
      if (request == null) {
        if (!leaving || phase == Phase.ENDED) {
          return;
        }
      } else if (streams) {
        converse(channel.socket().getOutputStream(), channel.socket().getInputStream());
      } else {
        converse();
      }
      if (leaving) {
        awaitEnd();
        return;
      }
      node.pause(chance);
    }
  }

  private void converse() throws IOException {
    while (request.hasRemaining()) {
      node.moved(channel.write(request));
    }
    while (answer.hasRemaining()) {
      if (channel.read(answer) < 0) {
        throw new java.io.EOFException("end of stream");
      }
    }
    answered();
  }

  private void converse(OutputStream out, InputStream in) throws IOException {
    byte[] bytes = new byte[request.capacity()];
    request.get(bytes);
    out.write(bytes);
    channel.socket().setSoTimeout(chance.nextBoolean() ? 0 : 1 + chance.nextInt(20));
    for (int at = 0; at < bytes.length; ) {
      int read;
      try {
        read = in.read(bytes, at, bytes.length - at);
      } catch (SocketTimeoutException e) {
        continue;
      }
      if (read == NO_BYTES) {
        throw new java.io.EOFException("end of stream");
      }
      at += read;
    }
    answer.put(bytes);
    answered();
  }

  private void awaitEnd() throws IOException {
    expect("the end of the stream");
    if (channel.read(ByteBuffer.allocate(1)) > 0) {
      throw new IllegalStateException("bytes after the last answer: " + this);
    }
    end();
  }

  @Override
  int peerPort() {
    return peerPort;
  }

  @Override
  void over() {
    node.turns.done(this);
    node.replace();
  }
}
