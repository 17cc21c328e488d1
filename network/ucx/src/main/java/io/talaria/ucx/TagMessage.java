// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

/**
 * A message that {@link Worker#probeTag(long, long, TagMessage)} has taken from the queue, to be
 * received by {@link Worker#receiveTag(TagMessage, java.lang.foreign.MemorySegment, long)}. A
 * program makes one and uses it again and again. Obeys the worker's rule of threads.
 */
public final class TagMessage {
  private Worker worker;
  private long handle;
  private long tag;
  private long length;

  /** Makes an empty one. */
  public TagMessage() {}

  void requireEmpty() {
    if (isPresent()) {
      throw new IllegalStateException("the message of " + length + " bytes was not received yet");
    }
  }

  void hold(Worker from, long message, long senderTag, long bytes) {
    worker = from;
    handle = message;
    tag = senderTag;
    length = bytes;
  }

  /** Throws unless the receiver can receive it. */
  void requirePresent(Worker receiver) {
    if (!isPresent()) {
      throw new IllegalStateException("there is no message: probe first");
    }
    if (worker != receiver) {
      throw new IllegalArgumentException("the message is another worker's");
    }
  }

  /** Gives the handle up to a receive. */
  long take() {
    long message = handle;
    handle = 0;
    worker = null;
    return message;
  }

  /**
   * Whether there is a message to be received.
   *
   * @return whether there is
   */
  public boolean isPresent() {
    // What it held of a closed worker went with that.
    return handle != 0 && worker.isOpen();
  }

  /**
   * The tag that it was sent with.
   *
   * @return a tag
   */
  public long tag() {
    return tag;
  }

  /**
   * How long it is.
   *
   * @return a number of bytes
   */
  public long length() {
    return length;
  }
}
