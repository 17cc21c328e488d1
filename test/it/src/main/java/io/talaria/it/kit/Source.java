// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/** Writes one patterned stream, call by call. Confined to one thread at a time. */
public final class Source {
  private final Pattern pattern;
  private final Shape shape;
  private final Deck deck;
  private final Hold hold;
  private long position;

  /**
   * Makes a writer.
   *
   * @param pattern what to write
   * @param shape how to cut it
   * @param hold where to go slowly
   */
  Source(Pattern pattern, Shape shape, Hold hold) {
    this.pattern = pattern;
    this.shape = shape;
    this.deck = new Deck(shape);
    this.hold = hold;
  }

  /**
   * Makes one write call.
   *
   * @param channel where to
   * @return bytes written, 0 if the channel takes none now or the call was an empty one
   * @throws IOException as the channel throws it
   */
  public long step(SocketChannel channel) throws IOException {
    int left = (int) Math.min(shape.nextBytes(), pattern.totalBytes() - position);
    int bytes = hold.room(position, left);
    deck.deal(bytes);
    long at = position;
    for (int i = deck.offset; i < deck.offset + deck.count; i++) {
      var memory = deck.memory(i);
      int size = memory.remaining();
      pattern.fill(memory, at);
      at += size;
    }
    deck.protectSome();
    long written =
        deck.vector
            ? channel.write(deck.buffers, deck.offset, deck.count)
            : channel.write(deck.buffers[0]);
    if (written < 0) {
      throw new IllegalStateException("write returned " + written);
    }
    deck.checkMoved(written);
    position += written;
    return written;
  }

  /**
   * Whether everything is written.
   *
   * @return true at the end
   */
  public boolean done() {
    return position == pattern.totalBytes();
  }

  /**
   * How far it is.
   *
   * @return bytes written
   */
  public long position() {
    return position;
  }

  Shape shape() {
    return shape;
  }
}
