// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import java.lang.foreign.MemorySegment;

/** Frames to one peer, in order. Guarded by the engine's lock. */
public abstract class FrameOutput {
  /** For subclasses. */
  protected FrameOutput() {}

  /**
   * Finds room for one frame. Nothing is taken before {@link #publish}.
   *
   * @param room bytes, a multiple of {@link Frames#ALIGNMENT}
   * @return where it begins in {@link #segment}, or -1 if there is no room now
   */
  public abstract long claim(int room);

  /** Where frames are written. */
  public abstract MemorySegment segment();

  /**
   * Hands over the frame that was claimed last.
   *
   * @param at what {@link #claim} returned
   * @param length bytes of header and payload
   */
  public abstract void publish(long at, int length);

  /**
   * From how many bytes on it is worth to let the peer fetch a message; never, unless overridden.
   */
  public long fetchFrom() {
    return Long.MAX_VALUE;
  }

  /**
   * Lets the peer fetch memory.
   *
   * @param memory outside the heap, at least {@link #fetchFrom} bytes
   * @return to be released, or null if that is not possible
   */
  public Exposure expose(MemorySegment memory) {
    return null;
  }

  /**
   * Begins to fetch memory that the peer has exposed; {@link Peers#fetched} follows, unless the
   * peer is gone before.
   *
   * @param into memory outside the heap, at least {@link #fetchFrom} bytes, as much as is wanted
   * @param address see {@link Exposure#address}
   * @param key see {@link Exposure#key}
   * @param id for {@link Peers#fetched}
   * @return false if that is not possible
   */
  public boolean fetch(MemorySegment into, long address, long key, long id) {
    return false;
  }

  /** The sum of the credit that the peer has given back since the start. */
  public abstract long creditReturned();

  /** Whether a frame of any size would find room, that is, whether it is worth to try again. */
  public abstract boolean hasRoom();

  /** Longest payload of a frame, bytes; a multiple of 8. */
  public abstract int longestPayload();

  /** Whether the peer knows {@link Frames} with a short header. */
  public boolean takesShortHeaders() {
    return false;
  }

  /**
   * In how many bytes at a time a long message is best sent.
   *
   * @param bytes of the message
   * @return at most {@link #longestPayload}
   */
  public int chunk(long bytes) {
    return longestPayload();
  }

  /** Whether all that was published has left this process. */
  public abstract boolean flushed();

  /** Gives the memory back. */
  public abstract void close();
}
