// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The ring in which messages travel: many producers claim room, write in place and mark what they
 * have written; one consumer follows the marks. Knows neither messages nor transports.
 *
 * <p>How it could break, and what is done about it:
 *
 * <ol>
 *   <li>A producer stops between claim and mark, for a moment or for ever: nobody waits for it;
 *       those behind it are seen later, and when the ring is full their claims fail at once.
 *   <li>A writer throws, or writes less than it said: its claim becomes a pad, {@link
 *       io.talaria.messaging.ring.RingProducer#abandon}.
 *   <li>Two producers cross the end at once: filler and record are claimed together, by one
 *       compare-and-set.
 *   <li>Old bytes look like a mark: marks are never payload, and carry the parity of their lap.
 *   <li>The counters wrap: positions are compared modulo 2^43, numbers of claims modulo 2^20, which
 *       is twice the most marks there are.
 *   <li>A wake-up is lost: {@link io.talaria.messaging.ring.RingLayout} says who publishes what
 *       before a full fence, and looks at what behind it.
 *   <li>The memory is shared with a process that lies: the head is checked against what was
 *       claimed, marks against the end of the ring; each is read once.
 * </ol>
 */
package io.talaria.messaging.ring;
