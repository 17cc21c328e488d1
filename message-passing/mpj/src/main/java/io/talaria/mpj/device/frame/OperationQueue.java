// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.Operation;

/** A queue of operations, linked through themselves: an operation is in one queue at most. */
final class OperationQueue {
  Operation head;
  Operation tail;

  boolean isEmpty() {
    return head == null;
  }

  void add(Operation operation) {
    operation.next = null;
    operation.previous = tail;
    if (tail == null) {
      head = operation;
    } else {
      tail.next = operation;
    }
    tail = operation;
  }

  void remove(Operation operation) {
    if (operation.previous == null) {
      head = operation.next;
    } else {
      operation.previous.next = operation.next;
    }
    if (operation.next == null) {
      tail = operation.previous;
    } else {
      operation.next.previous = operation.previous;
    }
    operation.next = null;
    operation.previous = null;
  }

  /** The first posted receive that takes the tag, or null. */
  Operation firstFor(int tag) {
    for (Operation o = head; o != null; o = o.next) {
      if (o.tag == tag || o.tag < 0) {
        return o;
      }
    }
    return null;
  }
}
