// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.handshake.Pairing.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * A model of processes, some of which may have the same id, and of the frames under way between
 * them: does what the acceptor and the dialer do with a {@link Pairing}, without clock and sockets.
 */
final class PairingWorld {
  private static final int MAX_TURNS = 2000;

  /** A frame under way, or the timer of a process that has asked whether a connection lives. */
  private record Frame(Member to, String kind, int number, Channel channel, Channel asked) {}

  /** What a process knows of an id. */
  private static final class Peer {
    final Pairing pairing;
    Channel dial;
    Channel accepting;
    Channel connected;
    int number;

    Peer(int own, int other) {
      pairing = new Pairing(own, other);
    }

    void leaveHandshake(Channel channel) {
      if (dial == channel) {
        dial = null;
        pairing.dialEnded();
      }
      if (accepting == channel) {
        accepting = null;
      }
    }
  }

  /** A process; its place in the list is its incarnation. */
  static final class Member {
    final int id;
    final int incarnation;
    boolean alive = true;
    private final Map<Integer, Peer> peers = new HashMap<>();

    Member(int id, int incarnation) {
      this.id = id;
      this.incarnation = incarnation;
    }

    private Peer peer(int other) {
      return peers.computeIfAbsent(other, key -> new Peer(id, key));
    }
  }

  /** A channel from one process to another. */
  private static final class Channel {
    final Member from;
    final Member to;
    boolean open = true;

    Channel(Member from, Member to) {
      this.from = from;
      this.to = to;
    }

    Member other(Member process) {
      return process == from ? to : from;
    }
  }

  private final List<Member> processes = new ArrayList<>();
  private final List<Frame> frames = new ArrayList<>();
  private final StringBuilder story = new StringBuilder();

  /** Starts a process. */
  Member start(int id) {
    Member process = new Member(id, processes.size() + 1);
    processes.add(process);
    story.append(" start").append(process.incarnation);
    return process;
  }

  /** Ends a process at once; the others notice it later. */
  void kill(Member process) {
    story.append(" kill").append(process.incarnation);
    process.alive = false;
    List<Channel> channels =
        processes.stream()
            .flatMap(each -> each.peers.values().stream())
            .flatMap(peer -> Stream.of(peer.dial, peer.accepting, peer.connected))
            .filter(each -> each != null && (each.from == process || each.to == process))
            .toList();
    channels.forEach(each -> close(each, process));
    process.peers.clear();
    frames.removeIf(frame -> frame.to == process);
  }

  List<Member> processes() {
    return processes;
  }

  boolean mayDial(Member from, Member to) {
    Peer peer = from.peer(to.id);
    return from.alive
        && from.id != to.id
        && peer.dial == null
        && peer.accepting == null
        && peer.connected == null;
  }

  void dial(Member from, Member to) {
    story.append(" dial").append(from.incarnation).append(to.incarnation);
    if (!to.alive) {
      return; // refused by the host
    }
    Peer peer = from.peer(to.id);
    peer.dial = new Channel(from, to);
    peer.pairing.saidHello();
    send(from, "HELLO", peer.pairing.heard(), peer.dial);
  }

  /** A connection is lost on the way; if there is none, a dial. */
  void lose(Member process, int other) {
    Peer peer = process.peer(other);
    close(peer.connected == null ? peer.dial : peer.connected, null);
  }

  int underWay() {
    return frames.size();
  }

  private void send(Member from, String kind, int number, Channel channel) {
    if (channel.open) {
      frames.add(new Frame(channel.other(from), kind, number, channel, null));
    }
  }

  /**
   * Closes a channel: what is under way on it still arrives, but not at who has closed it.
   *
   * @param by who closes it; null if it is lost on the way
   */
  private void close(Channel channel, Member by) {
    if (channel == null || !channel.open) {
      return;
    }
    channel.open = false;
    for (Member end : List.of(channel.from, channel.to)) {
      if (end == by) {
        frames.removeIf(frame -> frame.channel == channel && frame.to == by);
        end(by, channel);
      } else if (end.alive) {
        frames.add(new Frame(end, "END", 0, channel, null));
      }
    }
  }

  private void end(Member process, Channel channel) {
    Peer peer = process.peer(channel.other(process).id);
    peer.leaveHandshake(channel);
    if (peer.connected == channel) {
      peer.connected = null;
      peer.pairing.ended(peer.number);
    }
  }

  private void connect(Member process, Channel channel, int number) {
    Member other = channel.other(process);
    Peer peer = process.peer(other.id);
    peer.leaveHandshake(channel);
    if (peer.pairing.established(number, other.incarnation)) {
      peer.connected = channel;
      peer.number = number;
    } else {
      close(channel, process);
    }
  }

  /** Delivers a frame that is {@link #first}. */
  void deliver(int index) {
    Frame frame = frames.remove(index);
    Member process = frame.to;
    story.append(' ').append(frame.kind).append(process.incarnation);
    switch (frame.kind) {
      case "END" -> {
        frames.removeIf(each -> each.channel == frame.channel && each.to == process);
        end(process, frame.channel);
      }
      case "HELLO" -> hello(process, frame);
      case "WELCOME" -> {
        send(process, "READY", frame.number, frame.channel);
        connect(process, frame.channel, frame.number);
      }
      case "READY" -> connect(process, frame.channel, frame.number);
      case "ASKED" -> asked(process, frame);
      default -> close(frame.channel, process); // REJECT
    }
  }

  private void hello(Member process, Frame frame) {
    Member from = frame.channel.from;
    Peer peer = process.peer(from.id);
    Verdict verdict = peer.pairing.onHello(from.incarnation, frame.number);
    story.append('=').append(verdict);
    switch (verdict) {
      case ACCEPT -> welcome(process, frame);
      case REPLACE -> {
        forget(process, peer);
        welcome(process, frame);
      }
      case ASK ->
          frames.add(new Frame(process, "ASKED", frame.number, frame.channel, peer.connected));
      default -> reject(process, frame.channel);
    }
  }

  /** The connection lives if its peer could respond meanwhile; else decides again. */
  private void asked(Member process, Frame frame) {
    Peer peer = process.peer(frame.channel.from.id);
    boolean known = peer.connected == frame.asked;
    if (known && frame.asked.open) {
      reject(process, frame.channel);
      return;
    }
    if (known) {
      forget(process, peer);
    }
    hello(process, frame);
  }

  private void reject(Member process, Channel channel) {
    send(process, "REJECT", 0, channel);
    close(channel, process);
  }

  private void forget(Member process, Peer peer) {
    Channel old = peer.connected;
    assertThat(established(old)).as("an established connection is ended:" + story).isFalse();
    end(process, old);
    close(old, process);
  }

  private static boolean established(Channel channel) {
    return channel.open
        && channel.from.peer(channel.to.id).connected == channel
        && channel.to.peer(channel.from.id).connected == channel;
  }

  private void welcome(Member process, Frame hello) {
    Peer peer = process.peer(hello.channel.from.id);
    close(peer.dial, process);
    close(peer.accepting, process);
    peer.accepting = hello.channel;
    send(process, "WELCOME", peer.pairing.nextNumber(hello.number), hello.channel);
  }

  /** Whether a frame may be the next to arrive: those of one channel to one end stay in order. */
  boolean first(int index) {
    Frame frame = frames.get(index);
    if (frame.asked != null) {
      return true;
    }
    for (int i = 0; i < index; i++) {
      Frame earlier = frames.get(i);
      if (earlier.channel == frame.channel && earlier.to == frame.to && earlier.asked == null) {
        return false;
      }
    }
    return true;
  }

  /** Delivers all in the order in which it was sent. */
  void deliverAll() {
    while (!frames.isEmpty()) {
      deliver(0);
    }
  }

  void deliverOne(Random random) {
    if (!frames.isEmpty()) {
      int index = random.nextInt(frames.size());
      if (first(index)) {
        deliver(index);
      }
    }
  }

  /** Lets everything arrive, and processes dial, until each pair of ids is connected. */
  void settle(Random random) {
    for (int turn = 0; turn < MAX_TURNS && !(frames.isEmpty() && settled()); turn++) {
      if (!frames.isEmpty()) {
        deliverOne(random);
        continue;
      }
      Member from = processes.get(random.nextInt(processes.size()));
      Member to = processes.get(random.nextInt(processes.size()));
      if (mayDial(from, to)) {
        dial(from, to);
      }
    }
    assertThat(frames).as(story.toString()).isEmpty();
    assertThat(settled()).as(story.toString()).isTrue();
  }

  /**
   * Whether each two ids of which a process lives have a connection that both ends know by one
   * number, and nobody knows any other.
   */
  private boolean settled() {
    for (Member one : processes) {
      for (Member other : processes) {
        if (one.alive && other.alive && one.id < other.id && !connected(one.id, other.id)) {
          return false;
        }
      }
    }
    return processes.stream()
        .flatMap(process -> process.peers.values().stream())
        .allMatch(peer -> peer.connected == null || established(peer.connected));
  }

  private boolean connected(int one, int other) {
    List<Channel> both =
        processes.stream()
            .filter(process -> process.alive && process.id == one)
            .map(process -> process.peer(other).connected)
            .filter(channel -> channel != null && established(channel))
            .toList();
    if (both.size() != 1) {
      return false;
    }
    Channel channel = both.getFirst();
    return channel.from.peer(channel.to.id).number == channel.to.peer(channel.from.id).number;
  }

  @Override
  public String toString() {
    return story.toString();
  }
}
