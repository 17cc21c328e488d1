// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;

/**
 * Reads one patterned stream, call by call, and checks every byte. Confined to one thread at a
 * time.
 */
public final class Drain {
  /** As expected seed: take what the header says. */
  public static final long ANY_SEED = 0;

  private final long expectedSeed;
  private final Shape shape;
  private final Deck deck;
  private final ByteBuffer header =
      ByteBuffer.allocate(Pattern.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private Pattern pattern;
  private long position;
  private boolean ended;

  /**
   * Makes a reader.
   *
   * @param expectedSeed of the stream that must arrive, or {@link #ANY_SEED}
   * @param shape how to cut it
   */
  public Drain(long expectedSeed, Shape shape) {
    this.expectedSeed = expectedSeed;
    this.shape = shape;
    this.deck = new Deck(shape);
  }

  /**
   * Makes one read call.
   *
   * @param channel where from
   * @return bytes read, 0 if there are none now or the call was an empty one, -1 at the end
   * @throws IOException as the channel throws it
   */
  public long step(SocketChannel channel) throws IOException {
    int bytes = shape.nextBytes();
    deck.deal(bytes);
    long read =
        deck.vector
            ? channel.read(deck.buffers, deck.offset, deck.count)
            : channel.read(deck.buffers[0]);
    if (read == -1) {
      deck.checkMoved(0);
      ended = true;
      return -1;
    }
    deck.checkMoved(read);
    if (read == 0 && bytes > 0 && channel.isBlocking()) {
      throw new IllegalStateException("a blocking read of " + bytes + " bytes returned 0");
    }
    if (read > 0 && ended) {
      throw new IllegalStateException("a read after the end of the stream returned " + read);
    }
    long left = read;
    for (int i = deck.offset; left > 0; i++) {
      ByteBuffer memory = deck.memory(i);
      memory.limit(memory.position() + (int) Math.min(memory.remaining(), left));
      left -= memory.remaining();
      check(memory);
    }
    return read;
  }

  private void check(ByteBuffer arrived) {
    while (pattern == null && arrived.hasRemaining()) {
      header.put(arrived.get());
      position++;
      if (!header.hasRemaining()) {
        readHeader();
      }
    }
    if (arrived.hasRemaining()) {
      int size = arrived.remaining();
      if (position + size > pattern.totalBytes()) {
        throw new IllegalStateException(
            (position + size - pattern.totalBytes())
                + " bytes follow a stream of "
                + pattern.totalBytes());
      }
      pattern.check(arrived, position);
      position += size;
    }
  }

  private void readHeader() {
    long seed = header.getLong(0);
    if (expectedSeed != ANY_SEED && seed != expectedSeed) {
      throw new IllegalStateException(
          String.format(
              "the stream starts with %016x instead of %016x: it is another's, or foreign bytes",
              seed, expectedSeed));
    }
    pattern = new Pattern(seed, header.getLong(8));
  }

  /**
   * Checks that the stream is complete. A stream shorter than its header must have a known seed.
   *
   * @throws IllegalStateException if bytes are missing
   */
  public void checkComplete() {
    if (pattern == null && expectedSeed != ANY_SEED && position > 0) {
      new Pattern(expectedSeed, position).check(header.flip(), 0);
      return;
    }
    if (!complete()) {
      throw new IllegalStateException(
          "the stream ended after "
              + position
              + " bytes of "
              + (pattern == null ? "an unknown length" : pattern.totalBytes()));
    }
  }

  /**
   * Whether all bytes that the header promised have arrived.
   *
   * @return true if so
   */
  public boolean complete() {
    return pattern != null && position == pattern.totalBytes();
  }

  /**
   * How far it is.
   *
   * @return bytes read
   */
  public long position() {
    return position;
  }

  Shape shape() {
    return shape;
  }
}
