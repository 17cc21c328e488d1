// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ucx;

import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.transport.EndedLinks;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.transport.ClosingEndpoints;
import io.talaria.ucx.transport.FailureCheck;
import io.talaria.ucx.transport.SendsInFlight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What is between this rank and one other, both directions. Guarded by the engine's lock.
 *
 * <p>A frame is written into memory outside the heap and sent from there as one message, whose tag
 * names this rank. Mostly UCX is done with it at once, and the next frame takes the same place; if
 * not, the place belongs to UCX until its request is over. Places are given back in order. What a
 * peer's messages cost goes back to it as credit, a quarter at a time.
 */
final class UcxLink implements EndedLinks.Ended {
  private static final int NOBODY = -1;

  /** Sends to a rank that UCX may have at a time: a worker has 2^20 requests for 3,500 ranks. */
  private static final int MAX_IN_FLIGHT = 256;

  private static final int SENDS_AT_FIRST = 16;

  private final int peer;
  private final UcxFrameTransport transport;
  private final int longestFrame;
  private final long creditStep;
  private final Output output;
  private final Input input = new Input();
  private Endpoint endpoint;
  private String ended;

  /** Whether credit is to be sent that found no room; kept by {@link UcxFrameTransport}. */
  boolean owes;

  UcxLink(int peer, UcxFrameTransport transport, int capacity, long creditBytes) {
    this.peer = peer;
    this.transport = transport;
    longestFrame = UcxFrameTransport.longestFrame(capacity);
    creditStep = Math.max(1, creditBytes / 4);
    output = new Output(capacity);
  }

  @Override
  public int peer() {
    return peer;
  }

  Output output() {
    return output;
  }

  Input input() {
    return input;
  }

  @Override
  public String ended() {
    return ended;
  }

  void end(String why) {
    if (ended == null) {
      ended = why;
      transport.ended(this);
    }
  }

  /** Begins to close the endpoint to a peer that is gone. The worker has been entered. */
  void abort(ClosingEndpoints closing) {
    if (endpoint != null && endpoint.isOpen()) {
      closing.force(endpoint, this::isSending);
    } else {
      closing.add(0, this::isSending);
    }
  }

  /** Takes back the sends that UCX is done with; whether others are left. Worker entered. */
  private boolean isSending() {
    return output.reapEntered();
  }

  /** Begins to close, at the end; gives 0, a request or a status. The worker has been entered. */
  long beginClose() {
    boolean sound = endpoint != null && endpoint.isOpen() && endpoint.failure() == 0;
    return sound ? endpoint.closeFlushing() : 0;
  }

  /** The frames that go to the peer. */
  final class Output extends FrameOutput {
    private final MemorySegment segment;
    private final int capacity;

    /** The mark of each send is where its frame begins. */
    private final SendsInFlight sends = transport.newSends(SENDS_AT_FIRST, MAX_IN_FLIGHT);

    /**
     * Where the next frame begins; what UCX still reads is from the oldest up to it, cyclically.
     */
    private int tail;

    private long creditReturned;

    private Output(int capacity) {
      this.capacity = capacity;
      segment = Arena.ofAuto().allocate(capacity, 64);
    }

    @Override
    public long claim(int room) {
      if (ended != null) {
        return -1;
      }
      if (!sends.isEmpty()) {
        reap();
      }
      return place(room);
    }

    private int place(int room) {
      if (sends.isEmpty()) {
        return 0;
      }
      if (!sends.hasRoomFor(1)) {
        return -1;
      }
      int head = (int) sends.oldestMark();
      if (tail < head) {
        return tail + room < head ? tail : -1;
      }
      if (tail + room <= capacity) {
        return tail;
      }
      return room < head ? 0 : -1;
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public void publish(long at, int length) {
      Frames.length(segment, at, length);
      transport.enter();
      try {
        if (endpoint == null) {
          endpoint = transport.open(peer);
        }
        long answer = endpoint.sendTag(segment, at, length, transport.tag(), 0);
        if (answer > 0) {
          sends.add(answer, at);
          transport.sendBegan();
          tail = (int) at + Frames.room(length - Frames.HEADER);
        } else if (answer < 0) {
          failed((int) answer);
        }
      } catch (UcxException e) {
        end("UCX finds no path to it: " + e.getMessage());
      } finally {
        transport.exit();
      }
    }

    /** Takes back what UCX is done with. */
    private void reap() {
      transport.enter();
      try {
        boolean ignored = reapEntered();
      } finally {
        transport.exit();
      }
    }

    private boolean reapEntered() {
      while (!sends.isEmpty()) {
        int status = sends.pollOldest();
        if (status == Status.IN_PROGRESS) {
          return true;
        }
        transport.sendEnded();
        if (status < 0) {
          failed(status);
        }
      }
      return false;
    }

    private void failed(int status) {
      end(FailureCheck.reason(status));
    }

    @Override
    public long creditReturned() {
      return creditReturned;
    }

    @Override
    public boolean hasRoom() {
      if (ended != null) {
        return false;
      }
      if (!sends.isEmpty()) {
        reap();
      }
      return place(longestFrame) >= 0;
    }

    @Override
    public int longestPayload() {
      return longestFrame - Frames.HEADER;
    }

    /** {@link UcxRankAddress} is of the version that reads them. */
    @Override
    public boolean takesShortHeaders() {
      return true;
    }

    @Override
    public boolean flushed() {
      if (!sends.isEmpty()) {
        reap();
      }
      return sends.isEmpty() || ended != null;
    }

    @Override
    public void close() {}
  }

  /** The frames that come from the peer, in the order of sending, where UCX has put them. */
  final class Input extends FrameInput {
    private int first = NOBODY;
    private int last = NOBODY;
    private long creditGiven;
    private long creditSent;

    /** Takes a frame that has arrived; an invalid one ends the link. */
    void add(int slot, long received) {
      long at = transport.at(slot);
      String fault = Frames.messageFault(transport.slots(), at, received);
      if (ended != null || fault != null) {
        transport.free(slot);
        if (fault != null) {
          end("it sent " + fault);
        }
      } else if (Frames.isCredit(transport.slots(), at)) {
        output.creditReturned = Frames.messageBytes(transport.slots(), at);
        transport.free(slot);
      } else if (first == NOBODY) {
        first = slot;
        last = slot;
      } else {
        transport.follow(last, slot);
        last = slot;
      }
    }

    @Override
    public long poll() {
      return first == NOBODY ? -1 : transport.at(first);
    }

    @Override
    public MemorySegment segment() {
      return transport.slots();
    }

    @Override
    public void consume(int length) {
      int slot = first;
      first = slot == last ? NOBODY : transport.following(slot);
      transport.free(slot);
    }

    @Override
    public void returnCredit(long total) {
      creditGiven = total;
      if (total - creditSent >= creditStep) {
        sendCredit();
      }
    }

    /** Sends what is owed, or has it tried again. */
    void sendCredit() {
      long at = output.claim(Frames.HEADER);
      if (at >= 0) {
        Frames.credit(output.segment, at, creditGiven);
        creditSent = creditGiven;
        output.publish(at, Frames.HEADER);
      } else if (ended == null && !owes) {
        owes = true;
        transport.owing(UcxLink.this);
      }
    }

    @Override
    public void close() {}
  }
}
