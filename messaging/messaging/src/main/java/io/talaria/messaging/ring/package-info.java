// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Implements the ring that carries messages. Many producers claim room, write in place, and write
 * the length last; one consumer follows the lengths. Depends neither on messages nor on transports.
 *
 * <p>What can go wrong, and why the ring survives it:
 *
 * <ol>
 *   <li>A producer stops between claim and commit, briefly or for ever. No thread waits for it: the
 *       consumer sees later records later, and when the ring is full, claims fail at once. Only who
 *       clears memory is waited for, by those who need it.
 *   <li>A writer throws, or writes less than it has claimed. Its claim becomes a pad: {@link
 *       io.talaria.messaging.ring.RingProducer#abort}.
 *   <li>Two producers reach the end of the memory at once. Filler and record are claimed together,
 *       by one compare-and-set.
 *   <li>Old bytes look like a length. Where a length can be looked for, memory is cleared before it
 *       can be claimed: {@link io.talaria.messaging.ring.RingProducer} has the invariant.
 *   <li>Positions wrap. They are compared modulo 2^43.
 *   <li>A wake-up is lost. {@link io.talaria.messaging.ring.RingLayout} defines what each side
 *       publishes before a full fence, and what it reads after it; {@link
 *       io.talaria.nio.memory.SleepWord} has the proof.
 *   <li>The other process writes wrong values. The head is checked against what was claimed, and
 *       lengths against the end of the ring; each is read once.
 * </ol>
 */
package io.talaria.messaging.ring;
