// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * What a device is and can do ({@code ibv_query_device_ex}, or {@code ibv_query_device} where that
 * is missing). Limits are upper bounds that the device may not reach all at once.
 *
 * @param firmware its version, as the vendor writes it
 * @param nodeGuid the identifier of the node
 * @param vendorId who made it
 * @param vendorPartId what it is
 * @param ports how many ports
 * @param maxRegionBytes the longest memory region
 * @param maxQueuePairs how many queue pairs
 * @param maxQueueRequests how many requests a queue holds
 * @param maxPieces how many pieces of memory a request has
 * @param maxCompletionQueues how many completion queues
 * @param maxCompletions how many entries a completion queue has
 * @param maxRegions how many memory regions
 * @param maxReadsIn how many reads and atomics of the peer a queue pair works on at once
 * @param maxReadsOut how many reads and atomics a queue pair has under way
 * @param atomics what atomic operations are atomic against
 * @param maxWindows how many memory windows
 * @param maxSharedReceiveQueues how many shared receive queues
 * @param maxSharedRequests how many requests a shared receive queue holds
 * @param maxSharedPieces how many pieces of memory a request there has
 * @param maxAddressHandles how many address handles
 * @param capabilities bits of {@code IBV_DEVICE_}
 * @param onDemandPaging whether regions may be {@link Access#ON_DEMAND}
 * @param clockKilohertz of the timestamps of completions, 0 if there are none
 */
public record DeviceAttributes(
    String firmware,
    long nodeGuid,
    int vendorId,
    int vendorPartId,
    int ports,
    long maxRegionBytes,
    int maxQueuePairs,
    int maxQueueRequests,
    int maxPieces,
    int maxCompletionQueues,
    int maxCompletions,
    int maxRegions,
    int maxReadsIn,
    int maxReadsOut,
    Atomics atomics,
    int maxWindows,
    int maxSharedReceiveQueues,
    int maxSharedRequests,
    int maxSharedPieces,
    int maxAddressHandles,
    int capabilities,
    boolean onDemandPaging,
    long clockKilohertz) {
  /** What atomic operations are atomic against. */
  public enum Atomics {
    /** There are none. */
    NONE,
    /** Other operations of the same device. */
    DEVICE,
    /** All accesses, those of processors included. */
    GLOBAL
  }
}
