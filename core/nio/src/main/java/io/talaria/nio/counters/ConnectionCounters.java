// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.file.CountersLayout.LONG;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.AddressCodec;
import io.talaria.nio.counters.file.Counter;
import io.talaria.nio.counters.file.CountersLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

/**
 * What one connection, or one listener, has done: counted by the threads that use it, read by
 * everyone.
 *
 * <p>{@link #acceleratedIn} and {@link #tcpIn} may be called by one thread at a time, and so may
 * {@link #acceleratedOut}, {@link #tcpOut} and {@link #stalled}; the two groups may run at once.
 * These methods store one or two numbers and neither block nor allocate. {@link #wakeupSent},
 * {@link #wakeupReceived} and {@link #slept} may be called by any thread. A number another process
 * reads may be one call behind when calls of several threads meet, until the next call.
 *
 * <p>All other methods may be called by any thread, take a lock for a short time, and do no file
 * work. The channel owns its counters and closes them once; calls after that change nothing that
 * can be seen.
 */
public final class ConnectionCounters extends ConnectionFields.Gap2 {
  private static final VarHandle WAKEUPS_RECEIVED;
  private static final VarHandle SLEEPS;
  private static final VarHandle WAKEUPS_SENT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WAKEUPS_RECEIVED =
          lookup.findVarHandle(ConnectionFields.Reads.class, "wakeupsReceived", long.class);
      SLEEPS = lookup.findVarHandle(ConnectionFields.Reads.class, "sleeps", long.class);
      WAKEUPS_SENT = lookup.findVarHandle(ConnectionFields.Writes.class, "wakeupsSent", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Role role;
  private NioTransport transport = NioTransport.TCP;
  private Reason reason = Reason.PENDING;
  private String detail = "";
  private InetSocketAddress local;
  private InetSocketAddress remote;
  private int ringInBytes;
  private int ringOutBytes;

  /** Whether the record does not have these addresses yet. */
  private boolean addressesChanged;

  ConnectionCounters(
      ProcessCounters owner,
      long id,
      long openedAtMs,
      Role role,
      SocketAddress local,
      SocketAddress remote) {
    super(owner, id, openedAtMs);
    this.role = role;
    this.local = internetAddress(local);
    this.remote = internetAddress(remote);
  }

  /**
   * Counts one read from the transport.
   *
   * @param bytes how many bytes it gave
   */
  public void acceleratedIn(int bytes) {
    long total = acceleratedInBytes + bytes;
    long calls = reads + 1;
    acceleratedInBytes = total;
    reads = calls;
    ByteBuffer to = file();
    if (to != null) {
      int at = place();
      LONG.setOpaque(to, at + Counter.ACCELERATED_IN.place(), total);
      LONG.setOpaque(to, at + Counter.READS.place(), calls);
    }
  }

  /**
   * Counts one read from the control connection.
   *
   * @param bytes how many application bytes it gave
   */
  public void tcpIn(int bytes) {
    long total = tcpInBytes + bytes;
    long calls = reads + 1;
    tcpInBytes = total;
    reads = calls;
    ByteBuffer to = file();
    if (to != null) {
      int at = place();
      LONG.setOpaque(to, at + Counter.TCP_IN.place(), total);
      LONG.setOpaque(to, at + Counter.READS.place(), calls);
    }
  }

  /**
   * Counts one write to the transport.
   *
   * @param bytes how many bytes it took
   */
  public void acceleratedOut(int bytes) {
    long total = acceleratedOutBytes + bytes;
    long calls = writes + 1;
    acceleratedOutBytes = total;
    writes = calls;
    ByteBuffer to = file();
    if (to != null) {
      int at = place();
      LONG.setOpaque(to, at + Counter.ACCELERATED_OUT.place(), total);
      LONG.setOpaque(to, at + Counter.WRITES.place(), calls);
    }
  }

  /**
   * Counts one write to the control connection.
   *
   * @param bytes how many application bytes it took
   */
  public void tcpOut(int bytes) {
    long total = tcpOutBytes + bytes;
    long calls = writes + 1;
    tcpOutBytes = total;
    writes = calls;
    ByteBuffer to = file();
    if (to != null) {
      int at = place();
      LONG.setOpaque(to, at + Counter.TCP_OUT.place(), total);
      LONG.setOpaque(to, at + Counter.WRITES.place(), calls);
    }
  }

  /** Counts a write that found no space. */
  public void stalled() {
    long total = stalls + 1;
    stalls = total;
    store(Counter.STALLS.place(), total);
  }

  /** Counts a doorbell sent to a sleeping peer. */
  public void wakeupSent() {
    store(Counter.WAKEUPS_SENT.place(), (long) WAKEUPS_SENT.getAndAdd(this, 1L) + 1);
  }

  /** Counts a doorbell received. */
  public void wakeupReceived() {
    store(Counter.WAKEUPS_RECEIVED.place(), (long) WAKEUPS_RECEIVED.getAndAdd(this, 1L) + 1);
  }

  /** Counts a sleep of a thread that waited for this connection. */
  public void slept() {
    store(Counter.SLEEPS.place(), (long) SLEEPS.getAndAdd(this, 1L) + 1);
  }

  /**
   * Says on which transport the connection is, and why. Also makes the Flight Recorder's event when
   * the transport or the reason is a new one. What is known already is not written again.
   *
   * @param newTransport the transport
   * @param newReason why it is that transport
   * @param newDetail details for people, cut at 39 bytes, such as {@code ring 64 KiB/32 KiB}; may
   *     be empty
   */
  public void transport(NioTransport newTransport, Reason newReason, String newDetail) {
    boolean news;
    synchronized (owner.lock) {
      news = show(newTransport, newReason, newDetail, ringInBytes, ringOutBytes);
    }
    if (news) {
      FlightRecorderEvents.decided(this);
    }
  }

  /**
   * Says on which transport the connection is, and why, and how large its rings are, in one: the
   * other and {@link #rings}.
   *
   * @param newTransport the transport
   * @param newReason why it is that transport
   * @param newDetail details for people
   * @param inBytes capacity of the incoming ring
   * @param outBytes capacity of the outgoing ring
   */
  public void transport(
      NioTransport newTransport, Reason newReason, String newDetail, int inBytes, int outBytes) {
    boolean news;
    synchronized (owner.lock) {
      news = show(newTransport, newReason, newDetail, inBytes, outBytes);
    }
    if (news) {
      FlightRecorderEvents.decided(this);
    }
  }

  /** Takes all this over, and writes it if any of it is new; returns whether the transport is. */
  private boolean show(
      NioTransport newTransport, Reason newReason, String newDetail, int inBytes, int outBytes) {
    assert Thread.holdsLock(owner.lock);
    boolean newlyDecided = transport != newTransport || reason != newReason;
    boolean newRings = ringInBytes != inBytes || ringOutBytes != outBytes;
    if (newlyDecided || newRings || !newDetail.equals(detail)) {
      transport = newTransport;
      reason = newReason;
      detail = newDetail;
      ringInBytes = inBytes;
      ringOutBytes = outBytes;
      owner.describe(this);
    }
    return newlyDecided;
  }

  /**
   * Says what the addresses are, once they are known or when they change.
   *
   * @param newLocal the local address, or null
   * @param newRemote the remote address, or null
   */
  public void addresses(SocketAddress newLocal, SocketAddress newRemote) {
    synchronized (owner.lock) {
      local = internetAddress(newLocal);
      remote = internetAddress(newRemote);
      addressesChanged = true;
      owner.describe(this);
    }
  }

  /**
   * Says how large the rings are.
   *
   * @param inBytes capacity of the incoming ring
   * @param outBytes capacity of the outgoing ring
   */
  public void rings(int inBytes, int outBytes) {
    synchronized (owner.lock) {
      show(transport, reason, detail, inBytes, outBytes);
    }
  }

  /**
   * Ends the record: its counts join the process's totals. If its upgrade is still being negotiated
   * it has ended early. Closing again changes nothing.
   */
  public void close() {
    synchronized (owner.lock) {
      if (reason == Reason.PENDING) {
        reason = Reason.CLOSED_EARLY;
      }
    }
    if (owner.closeConnection(this)) {
      FlightRecorderEvents.closed(this);
    }
  }

  /**
   * What the connection has done so far.
   *
   * @return a copy
   */
  public ConnectionInfo info() {
    synchronized (owner.lock) {
      return new ConnectionInfo(
          id,
          role,
          transport,
          reason,
          detail,
          local,
          remote,
          openedAtMs,
          acceleratedInBytes,
          acceleratedOutBytes,
          tcpInBytes,
          tcpOutBytes,
          reads,
          writes,
          stalls,
          wakeupsSent,
          wakeupsReceived,
          sleeps,
          ringInBytes,
          ringOutBytes);
    }
  }

  @Override
  void writeIdentity(ByteBuffer to) {
    to.put(CountersLayout.R_ROLE, (byte) role.number());
    writeAddresses(to);
  }

  private void writeAddresses(ByteBuffer to) {
    addressesChanged = false;
    AddressCodec.put(to, CountersLayout.R_LOCAL, local);
    AddressCodec.put(to, CountersLayout.R_REMOTE, remote);
  }

  @Override
  void writeDescription(ByteBuffer to) {
    if (addressesChanged) {
      writeAddresses(to);
    }
    to.put(CountersLayout.R_TRANSPORT, (byte) transport.number());
    to.putShort(CountersLayout.R_REASON, (short) reason.number());
    to.putInt(CountersLayout.R_RING_IN, ringInBytes);
    to.putInt(CountersLayout.R_RING_OUT, ringOutBytes);
    CountersLayout.putRecordText(to, CountersLayout.R_DETAIL, CountersLayout.DETAIL_BYTES, detail);
  }

  @Override
  void writeCounts(ByteBuffer to) {
    LONG.setOpaque(to, Counter.ACCELERATED_IN.place(), acceleratedInBytes);
    LONG.setOpaque(to, Counter.TCP_IN.place(), tcpInBytes);
    LONG.setOpaque(to, Counter.READS.place(), reads);
    LONG.setOpaque(to, Counter.WAKEUPS_RECEIVED.place(), wakeupsReceived);
    LONG.setOpaque(to, Counter.SLEEPS.place(), sleeps);
    LONG.setOpaque(to, Counter.ACCELERATED_OUT.place(), acceleratedOutBytes);
    LONG.setOpaque(to, Counter.TCP_OUT.place(), tcpOutBytes);
    LONG.setOpaque(to, Counter.WRITES.place(), writes);
    LONG.setOpaque(to, Counter.STALLS.place(), stalls);
    LONG.setOpaque(to, Counter.WAKEUPS_SENT.place(), wakeupsSent);
  }

  private static InetSocketAddress internetAddress(SocketAddress address) {
    return address instanceof InetSocketAddress internet ? internet : null;
  }
}
