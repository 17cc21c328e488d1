// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.transport.EndedLinks;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * One connection to another rank, both directions: frames, each rounded up to {@link
 * Frames#ALIGNMENT} bytes, one behind the other. Guarded by the engine's lock.
 *
 * <p>Frames are written into memory outside the heap and go to the socket at once; what the socket
 * does not take waits there, and before the connection is there all does. A frame is read where it
 * came to lie. What a peer has matched goes back to it as credit, a quarter at a time.
 */
final class Link implements EndedLinks.Ended {
  private final int peer;
  private final Links links;
  private final int capacity;
  private final int longestFrame;
  private final long creditStep;
  private final Output output;
  private final Input input;
  private SocketChannel channel;
  private SelectionKey key;

  /** Whether a selector has found bytes here; only where there are many links. */
  boolean ready = true;

  private String ended;

  /**
   * To a peer.
   *
   * @param capacity bytes of memory each way, a multiple of 128
   * @param creditBytes credit of a pair
   */
  Link(int peer, Links links, int capacity, long creditBytes) {
    this.peer = peer;
    this.links = links;
    this.capacity = capacity;
    longestFrame = longestFrame(capacity);
    creditStep = Math.max(1, creditBytes / 4);
    output = new Output();
    input = new Input();
  }

  static int longestFrame(int capacity) {
    return capacity / 4;
  }

  @Override
  public int peer() {
    return peer;
  }

  FrameOutput output() {
    return output;
  }

  FrameInput input() {
    return input;
  }

  boolean connected() {
    return channel != null;
  }

  @Override
  public String ended() {
    return ended;
  }

  /** Takes the connection, which is non-blocking. */
  void attach(SocketChannel opened, SelectionKey selected) {
    channel = opened;
    key = selected;
    output.write();
  }

  /** Sends what waits; called once a round. Whether all of that has left now. */
  boolean round() {
    boolean waited = output.written < output.filled;
    if (waited) {
      output.write();
    }
    if (input.creditGiven - input.creditSent >= creditStep) {
      input.sendCredit();
    }
    return waited && output.flushed();
  }

  /** Asks the selector for room in the socket, too, if something waits for it. */
  void wantRoom(boolean armed) {
    if (key != null && key.isValid()) {
      boolean waits = armed && output.written < output.filled;
      int wanted = waits ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
      try {
        if (key.interestOps() != wanted) {
          key.interestOps(wanted);
        }
      } catch (CancelledKeyException e) {
        // Closed just now by the thread that has made it, and has failed: the next round throws.
      }
    }
  }

  void end(String why) {
    if (ended == null) {
      ended = why;
      close();
      links.ended(this);
    }
  }

  void close() {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // It is given up anyway.
      }
      channel = null;
    }
  }

  private static MemorySegment memory(int bytes) {
    return Arena.ofAuto().allocate(bytes, 64);
  }

  private final class Output extends FrameOutput {
    private final MemorySegment segment = memory(capacity);
    private final ByteBuffer buffer = segment.asByteBuffer();
    private int written;
    private int filled;
    private boolean full;
    private long creditReturned;

    @Override
    public long claim(int room) {
      if (filled + room > capacity && !makeRoom(room)) {
        return -1;
      }
      return filled;
    }

    private boolean makeRoom(int room) {
      write();
      // Frames stay where they were modulo their alignment.
      int first = written & -Frames.ALIGNMENT;
      if (filled - first + room > capacity || first < capacity / 2) {
        return filled + room <= capacity;
      }
      MemorySegment.copy(segment, first, segment, 0, filled - first);
      written -= first;
      filled -= first;
      return true;
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public void publish(long at, int length) {
      Frames.length(segment, at, length);
      filled = (int) at + Frames.room(length - Frames.HEADER);
      if (!full) {
        write();
      }
    }

    private void write() {
      if (channel == null) {
        return;
      }
      try {
        buffer.limit(filled).position(written);
        channel.write(buffer);
        written = buffer.position();
        full = written < filled;
        if (!full) {
          written = 0;
          filled = 0;
        }
      } catch (IOException e) {
        end("the connection failed: " + e.getMessage());
      }
    }

    @Override
    public long creditReturned() {
      return creditReturned;
    }

    @Override
    public boolean hasRoom() {
      if (written < filled) {
        write();
      }
      return filled + longestFrame <= capacity
          || (written >= capacity / 2 && filled - written + 2 * longestFrame <= capacity);
    }

    @Override
    public int longestPayload() {
      return longestFrame - Frames.HEADER;
    }

    @Override
    public boolean flushed() {
      return written == filled || ended != null;
    }

    @Override
    public void close() {
      Link.this.close();
    }
  }

  private final class Input extends FrameInput {
    private final MemorySegment segment = memory(capacity);
    private final ByteBuffer buffer = segment.asByteBuffer();
    private int head;
    private int tail;
    private long emptyRound = -1;
    private long creditGiven;
    private long creditSent;

    @Override
    public long poll() {
      while (true) {
        int have = tail - head;
        if (have >= Frames.HEADER) {
          int length = Frames.length(segment, head);
          if (length < Frames.HEADER || length > longestFrame) {
            end("it sent a frame of " + length + " bytes; " + longestFrame + " are allowed");
            return -1;
          }
          int room = Frames.room(length - Frames.HEADER);
          if (have >= room) {
            String fault = Frames.fault(segment, head, length);
            if (fault != null) {
              end("it sent " + fault);
              return -1;
            }
            if (!Frames.isCredit(segment, head)) {
              return head;
            }
            output.creditReturned = Frames.messageBytes(segment, head);
            head += room;
            continue;
          }
        }
        if (!read()) {
          return -1;
        }
      }
    }

    /** Whether something came; at an empty socket it looks once a round. */
    private boolean read() {
      if (channel == null || emptyRound == links.rounds() || !ready) {
        return false;
      }
      if (head == tail) {
        head = 0;
        tail = 0;
      } else if (capacity - head < longestFrame) {
        MemorySegment.copy(segment, head, segment, 0, tail - head);
        tail -= head;
        head = 0;
      }
      try {
        buffer.limit(capacity).position(tail);
        int n = channel.read(buffer);
        if (n < 0) {
          end("the connection ended");
          return false;
        }
        if (buffer.hasRemaining()) {
          emptyRound = links.rounds();
        }
        tail += n;
        return n > 0;
      } catch (IOException e) {
        end("the connection failed: " + e.getMessage());
        return false;
      }
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public void consume(int length) {
      head += Frames.room(length - Frames.HEADER);
    }

    @Override
    public void returnCredit(long total) {
      creditGiven = total;
      if (total - creditSent >= creditStep) {
        sendCredit();
      }
    }

    private void sendCredit() {
      long at = output.claim(Frames.HEADER);
      if (at >= 0) {
        Frames.credit(output.segment, at, creditGiven);
        creditSent = creditGiven;
        output.publish(at, Frames.HEADER);
      }
    }

    @Override
    public void close() {
      Link.this.close();
    }
  }
}
