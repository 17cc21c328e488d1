// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

/** What a program does with the active messages of an id: {@link Worker#onMessage}. */
@FunctionalInterface
public interface ActiveMessageHandler {
  /**
   * A message has arrived. Called inside {@link Worker#progress}, by the thread that progresses,
   * but not by UCX: every call on the worker is allowed, and what is thrown comes out of progress.
   * Messages that come while a handler runs wait until it is over.
   *
   * @param message the message; it is released, and the object used for others, when this returns:
   *     to keep it, move it by {@link ActiveMessage#moveTo}
   */
  void received(ActiveMessage message);
}
