// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Connects two nodes: finds the other node, exchanges the first frames, and decides which
 * connection survives when both nodes dial. Does not depend on messages.
 *
 * <p>What can go wrong, and how the handshake handles it:
 *
 * <ol>
 *   <li>Both nodes dial at once: {@link io.talaria.messaging.handshake.Pairing}. The smaller id's
 *       dial wins if it has sent HELLO; a dial that has not sent HELLO never wins.
 *   <li>A HELLO of a dial that was given up arrives late. It contains the number that its sender
 *       had seen then, which is smaller than the number of the existing connection.
 *   <li>One side has lost a connection and the other does not know it. Then HELLO contains the
 *       number of that connection.
 *   <li>A node was restarted, or two processes have one id. The incarnation differs; the node
 *       checks whether the old connection is alive, and refuses the new one if it is.
 *   <li>A peer sends nothing, or half a frame. Each step ends at one deadline, and at most 64
 *       handshakes exist at a time; beyond that the oldest is given up.
 *   <li>A stranger connects. Magic and version come first, and lengths are bounded. On a
 *       Unix-domain connection the kernel reports the user; on TCP a proof of the key precedes all
 *       parsing.
 *   <li>A process is killed at any point. The names of its files identify it, and the next node
 *       that starts removes them.
 * </ol>
 */
package io.talaria.messaging.handshake;
