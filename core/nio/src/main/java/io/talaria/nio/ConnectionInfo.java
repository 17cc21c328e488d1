// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import java.net.InetSocketAddress;

/**
 * What a connection, or a listener, was and had done at one moment.
 *
 * @param id a number of its own within the process
 * @param role which side it is
 * @param transport the transport its bytes travel
 * @param reason why it is that transport
 * @param detail details of the transport for people, or empty
 * @param local local address, or null if there is none
 * @param remote remote address, or null if there is none
 * @param openedAtMs when it was opened, milliseconds since 1970
 * @param acceleratedInBytes bytes read from the transport
 * @param acceleratedOutBytes bytes written to the transport
 * @param tcpInBytes bytes read from TCP
 * @param tcpOutBytes bytes written to TCP
 * @param reads reads that gave bytes, of either transport
 * @param writes writes that took bytes, of either transport
 * @param stalls writes that found no space
 * @param wakeupsSent doorbells rung for a sleeping peer
 * @param wakeupsReceived doorbells heard
 * @param sleeps sleeps of a thread that waited for this connection
 * @param ringInBytes capacity of the incoming ring, or 0
 * @param ringOutBytes capacity of the outgoing ring, or 0
 */
public record ConnectionInfo(
    long id,
    Role role,
    NioTransport transport,
    Reason reason,
    String detail,
    InetSocketAddress local,
    InetSocketAddress remote,
    long openedAtMs,
    long acceleratedInBytes,
    long acceleratedOutBytes,
    long tcpInBytes,
    long tcpOutBytes,
    long reads,
    long writes,
    long stalls,
    long wakeupsSent,
    long wakeupsReceived,
    long sleeps,
    int ringInBytes,
    int ringOutBytes) {

  /**
   * Bytes read, of either transport.
   *
   * @return a sum
   */
  public long inBytes() {
    return acceleratedInBytes + tcpInBytes;
  }

  /**
   * Bytes written, of either transport.
   *
   * @return a sum
   */
  public long outBytes() {
    return acceleratedOutBytes + tcpOutBytes;
  }
}
