// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * How two nodes come to a connection: what they say to each other first, who gives way when both
 * dial, where nodes are found. Knows nothing of messages.
 *
 * <p>How it could break, and what is done about it:
 *
 * <ol>
 *   <li>Both dial at once: {@link io.talaria.messaging.handshake.Pairing}, the smaller id's HELLO
 *       wins once it is on its way; a dial that has not said HELLO never does.
 *   <li>A HELLO comes late, from a dial that was given up: it says what its sender had heard then,
 *       which is less than the number of the connection that exists.
 *   <li>One side has lost a connection and the other does not know: HELLO says the same number.
 *   <li>A node was restarted, or two processes have one id: the incarnation differs; the old
 *       connection is asked whether it lives, and if it does the new one is refused.
 *   <li>A peer says nothing, or half of something: each step ends at one deadline, and there are at
 *       most 64 handshakes at a time, the oldest gives way.
 *   <li>Somebody else speaks: magic and version first, lengths bounded, the kernel's word about the
 *       user in a Unix-domain connection, a proof of the key on TCP, before anything is parsed.
 *   <li>A process is killed at any point: names in directories tell whose they are, whoever comes
 *       next removes them.
 * </ol>
 */
package io.talaria.messaging.handshake;
