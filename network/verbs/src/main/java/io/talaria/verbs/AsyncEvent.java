// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.VerbsConstants;
import java.util.Optional;

/**
 * Something that happened to a device, a port or a queue by itself. It is copied and acknowledged
 * before it is handed out, so nothing waits for who has it.
 *
 * @param type what happened
 * @param queuePair the queue pair that it concerns, or null
 * @param completionQueue the completion queue that it concerns, or null
 * @param sharedReceiveQueue the shared receive queue that it concerns, or null
 * @param port the port that it concerns, or 0
 */
public record AsyncEvent(
    Type type,
    QueuePair queuePair,
    CompletionQueue completionQueue,
    SharedReceiveQueue sharedReceiveQueue,
    int port) {
  /** What happens, in the order of {@code enum ibv_event_type}. */
  public enum Type {
    /** A completion queue overflowed or failed; it is of no use any more. */
    COMPLETION_QUEUE_ERROR,
    /** A queue pair failed. */
    QUEUE_PAIR_FATAL,
    /** A peer's request could not be understood. */
    QUEUE_PAIR_REQUEST_ERROR,
    /** A peer's request was not allowed. */
    QUEUE_PAIR_ACCESS_ERROR,
    /** A message came before the queue pair was told that its peer is ready. */
    COMMUNICATION_ESTABLISHED,
    /** The send queue is drained, as was asked for. */
    SEND_QUEUE_DRAINED,
    /** The other path was taken. */
    PATH_MIGRATED,
    /** The other path could not be taken. */
    PATH_MIGRATION_ERROR,
    /** The device failed. */
    DEVICE_FATAL,
    /** A port carries data again. */
    PORT_ACTIVE,
    /** A port carries no data any more. */
    PORT_ERROR,
    /** A port has another local identifier. */
    LID_CHANGE,
    /** A port's table of partition keys is another. */
    PARTITION_KEY_CHANGE,
    /** A port has another subnet manager. */
    SUBNET_MANAGER_CHANGE,
    /** A shared receive queue failed. */
    SHARED_RECEIVE_QUEUE_ERROR,
    /** A shared receive queue has fewer requests than its limit. */
    SHARED_RECEIVE_QUEUE_LIMIT,
    /** A queue pair in error has taken its last request from a shared receive queue. */
    LAST_REQUEST_REACHED,
    /** The subnet manager asks clients to register again. */
    CLIENT_REREGISTER,
    /** A port's table of identifiers is another. */
    GID_CHANGE,
    /** A work queue failed. */
    WORK_QUEUE_FATAL,
    /** Something that this release does not know. */
    OTHER;

    static Type of(int value) {
      return Bits.constant(values(), value, OTHER);
    }
  }

  static boolean ofQueuePair(int type) {
    return switch (type) {
      case VerbsConstants.IBV_EVENT_QP_FATAL,
          VerbsConstants.IBV_EVENT_QP_REQ_ERR,
          VerbsConstants.IBV_EVENT_QP_ACCESS_ERR,
          VerbsConstants.IBV_EVENT_COMM_EST,
          VerbsConstants.IBV_EVENT_SQ_DRAINED,
          VerbsConstants.IBV_EVENT_PATH_MIG,
          VerbsConstants.IBV_EVENT_PATH_MIG_ERR,
          VerbsConstants.IBV_EVENT_QP_LAST_WQE_REACHED ->
          true;
      default -> false;
    };
  }

  static boolean ofSharedReceiveQueue(int type) {
    return type == VerbsConstants.IBV_EVENT_SRQ_ERR
        || type == VerbsConstants.IBV_EVENT_SRQ_LIMIT_REACHED;
  }

  static boolean ofPort(int type) {
    return switch (type) {
      case VerbsConstants.IBV_EVENT_PORT_ACTIVE,
          VerbsConstants.IBV_EVENT_PORT_ERR,
          VerbsConstants.IBV_EVENT_LID_CHANGE,
          VerbsConstants.IBV_EVENT_PKEY_CHANGE,
          VerbsConstants.IBV_EVENT_SM_CHANGE,
          VerbsConstants.IBV_EVENT_CLIENT_REREGISTER,
          VerbsConstants.IBV_EVENT_GID_CHANGE ->
          true;
      default -> false;
    };
  }

  /**
   * The queue pair it happened to.
   *
   * @return nothing if it happened to something else
   */
  public Optional<QueuePair> ifQueuePair() {
    return Optional.ofNullable(queuePair);
  }
}
