// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.node.LocalNode;

/**
 * Who a node is.
 *
 * @param node that is run
 * @param cluster a hash of its cluster's name
 * @param incarnation a random number, of this start of the node
 */
record Identity(LocalNode node, long cluster, long incarnation) {}
