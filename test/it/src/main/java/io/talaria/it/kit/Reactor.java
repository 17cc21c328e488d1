// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Carries many connections with one selector: non-blocking accepts, connects, reads and writes,
 * interest taken away and given back at random. Confined to one thread, except for {@link
 * #selector()} and its wake-up.
 */
public final class Reactor {
  private static final int MAX_STEPS = 4;
  private static final int MUTE_EVERY = 64;

  private final Selector selector;
  private final Streams streams;
  private final Listener listener;
  private final List<SelectionKey> muted = new ArrayList<>();

  /** Hears of the connections of a reactor, on its thread. */
  public interface Listener {
    /**
     * A connection is open.
     *
     * @param traffic the connection, nothing sent yet
     * @throws IOException makes the program fail
     */
    default void opened(Traffic traffic) throws IOException {}

    /**
     * A channel could not be connected, or none accepted.
     *
     * @param channel the connecting channel, or the listener
     * @param failure why
     * @throws IOException makes the program fail, which is what happens by default
     */
    default void failed(SelectableChannel channel, IOException failure) throws IOException {
      throw failure;
    }

    /**
     * A connection's two streams have ended. The channel is still open and registered, without
     * interest; the listener may close it.
     *
     * @param traffic the connection
     * @throws IOException makes the program fail
     */
    void ended(Traffic traffic) throws IOException;
  }

  /**
   * Opens the selector.
   *
   * @param streams makes the streams of each connection
   * @param listener is told of ends
   * @throws IOException if there is no selector
   */
  public Reactor(Streams streams, Listener listener) throws IOException {
    this.selector = Selector.open();
    this.streams = streams;
    this.listener = listener;
  }

  /**
   * The selector, to wake it up.
   *
   * @return the selector
   */
  public Selector selector() {
    return selector;
  }

  /**
   * Adds a listening, connecting or connected channel.
   *
   * @param channel becomes non-blocking
   * @throws IOException as the channel throws it
   */
  public void add(SelectableChannel channel) throws IOException {
    channel.configureBlocking(false);
    if (channel instanceof ServerSocketChannel) {
      channel.register(selector, SelectionKey.OP_ACCEPT);
    } else if (((SocketChannel) channel).isConnected()) {
      begin(channel.register(selector, 0));
    } else {
      channel.register(selector, SelectionKey.OP_CONNECT);
    }
  }

  private void begin(SelectionKey key) throws IOException {
    Traffic traffic = streams.traffic((SocketChannel) key.channel());
    key.attach(traffic);
    listener.opened(traffic);
    key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
  }

  /**
   * Waits until something is ready and handles it.
   *
   * @throws IOException as the channels throw it, ends of streams excepted
   */
  public void turn() throws IOException {
    if (muted.isEmpty()) {
      selector.select();
    } else {
      selector.select(1);
      unmute();
    }
    Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
    while (keys.hasNext()) {
      SelectionKey key = keys.next();
      keys.remove();
      if (key.isValid()) {
        handle(key);
      }
    }
  }

  private void unmute() {
    for (SelectionKey key : muted) {
      Traffic traffic = (Traffic) key.attachment();
      if (key.isValid() && traffic.inEnd == null) {
        key.interestOpsOr(SelectionKey.OP_READ);
      }
    }
    muted.clear();
  }

  private void handle(SelectionKey key) throws IOException {
    if (key.isAcceptable()) {
      acceptAll((ServerSocketChannel) key.channel());
      return;
    }
    if (key.isConnectable()) {
      finishConnect(key);
      return;
    }
    Traffic traffic = (Traffic) key.attachment();
    if (key.isReadable()) {
      readSome(key, traffic);
    }
    if (key.isWritable()) {
      writeSome(key, traffic);
    }
    if (traffic.over()) {
      key.interestOps(0);
      listener.ended(traffic);
    }
  }

  private void finishConnect(SelectionKey key) throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      if (!channel.finishConnect()) {
        throw new IllegalStateException("a connectable channel did not finish to connect");
      }
    } catch (IOException failure) {
      listener.failed(channel, failure);
      return;
    }
    begin(key);
  }

  private void acceptAll(ServerSocketChannel server) throws IOException {
    while (true) {
      SocketChannel channel;
      try {
        channel = server.accept();
      } catch (IOException failure) {
        listener.failed(server, failure);
        return;
      }
      if (channel == null) {
        return;
      }
      add(channel);
    }
  }

  private void readSome(SelectionKey key, Traffic traffic) {
    Shape shape = traffic.drain.shape();
    for (int i = shape.next(MAX_STEPS); i >= 0; i--) {
      long read = traffic.stepIn();
      if (read < 0) {
        key.interestOpsAnd(~SelectionKey.OP_READ);
        return;
      }
      if (read == 0) {
        break;
      }
    }
    shape.maybePause();
    if (shape.next(MUTE_EVERY) == 0) {
      key.interestOpsAnd(~SelectionKey.OP_READ);
      muted.add(key);
    }
  }

  private void writeSome(SelectionKey key, Traffic traffic) {
    Shape shape = traffic.source.shape();
    for (int i = shape.next(MAX_STEPS); i >= 0; i--) {
      long written = traffic.stepOut();
      if (written < 0) {
        key.interestOpsAnd(~SelectionKey.OP_WRITE);
        return;
      }
      if (written == 0) {
        break;
      }
    }
    shape.maybePause();
  }
}
