// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.cm;

/**
 * What happened to an identifier. It is copied and acknowledged before it is handed out, so nothing
 * waits for who has it.
 *
 * @param type what happened
 * @param id the identifier that it concerns; for {@link Type#CONNECT_REQUEST} a new one, to be
 *     accepted or rejected, and closed
 * @param listener who was asked, for {@link Type#CONNECT_REQUEST}; else null
 * @param status 0; a negated error number; or, for {@link Type#REJECTED}, the peer's reason
 * @param privateData what the peer has sent with it, maybe with zeros after it
 * @param readsIn how many reads and atomics the peer wants to have under way
 * @param readsOut how many the peer works on at once
 * @param queuePairNumber of the peer
 * @param key that datagrams to the peer must give
 */
@SuppressWarnings("ArrayRecordComponent") // copied on the way in and out
public record ConnectionEvent(
    Type type,
    ConnectionId id,
    ConnectionId listener,
    int status,
    byte[] privateData,
    int readsIn,
    int readsOut,
    int queuePairNumber,
    int key) {
  /** What happens, in the order of {@code enum rdma_cm_event_type}. */
  public enum Type {
    /** The address is resolved: there is a device to it. */
    ADDRESS_RESOLVED,
    /** There is no device to the address. */
    ADDRESS_ERROR,
    /** The route is resolved. */
    ROUTE_RESOLVED,
    /** There is no route. */
    ROUTE_ERROR,
    /** A peer wants to connect. */
    CONNECT_REQUEST,
    /** The peer has answered; only where the identifier has no queue pair. */
    CONNECT_RESPONSE,
    /** The connection failed. */
    CONNECT_ERROR,
    /** The peer does not answer. */
    UNREACHABLE,
    /** The peer has refused, or no program listens there. */
    REJECTED,
    /** The connection is there. */
    ESTABLISHED,
    /** The connection is over. */
    DISCONNECTED,
    /** The device goes away. */
    DEVICE_REMOVAL,
    /** The multicast group is joined. */
    MULTICAST_JOINED,
    /** The multicast group could not be joined, or is gone. */
    MULTICAST_ERROR,
    /** The network device has another address. */
    ADDRESS_CHANGE,
    /** The queue pair's number may be used again. */
    TIME_WAIT_OVER,
    /** Something that this release does not know. */
    OTHER;

    static Type of(int value) {
      Type[] all = values();
      return value >= 0 && value < all.length ? all[value] : OTHER;
    }
  }

  /** Copies the data. */
  public ConnectionEvent {
    privateData = privateData.clone();
  }

  /**
   * Returns the peer's private data.
   *
   * @return a copy
   */
  @Override
  public byte[] privateData() {
    return privateData.clone();
  }
}
